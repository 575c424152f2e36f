//! What is written is read again, or found to be damaged.

use super::*;
use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_expr::expressions::col;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{Partitioning, collect_partitioned};
use datafusion::prelude::SessionConfig;
use futures::executor::block_on_stream;

fn spilled(folder: &SpillFolder, pieces: &[&[u8]]) -> Arc<dyn SpillFile> {
    let file = folder.create_temp_file("a test").unwrap();
    let mut writer = file.open_writer().unwrap();
    for piece in pieces {
        writer.write_all(piece).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    file
}

fn read(file: &dyn SpillFile) -> Result<Vec<u8>> {
    let pieces = block_on_stream(file.read_stream()?).collect::<Result<Vec<_>>>()?;
    Ok(pieces.concat())
}

#[test]
fn what_was_written_is_read_and_its_space_is_free_when_nobody_reads_it() {
    let place = tempfile::tempdir().unwrap();
    let folder = SpillFolder::new(Some(place.path()));
    let long = (0..=250_u8).cycle().take(3 * PIECE_BYTES + 5).collect::<Vec<_>>();
    let files = [spilled(&folder, &[]), spilled(&folder, &[b"short", &long, b"", &long])];
    assert!(read(&*files[0]).unwrap().is_empty());
    let expected = [b"short", long.as_slice(), long.as_slice()].concat();
    assert_eq!(read(&*files[1]).unwrap(), expected);
    assert_eq!(read(&*files[1]).unwrap(), expected, "from the front again");
    assert_eq!(place.path().read_dir().unwrap().count(), 0, "no file has a name");
    let bytes = files[1].size().unwrap();
    assert!(bytes > expected.len() as u64);
    assert_eq!((folder.kept().0, folder.written().0), (bytes, bytes));
    let reader = files[1].read_stream().unwrap();
    drop(files);
    assert_eq!(folder.kept().0, bytes, "somebody reads it");
    drop(reader);
    assert_eq!((folder.kept().0, folder.written().0), (0, bytes));
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let folder = SpillFolder::new(None);
    let spilled = Spilled::behind(folder.file().unwrap(), false);
    let mut piece = vec![7; HEAD_BYTES + 100];
    spilled.append(&mut piece).unwrap();
    spilled.append(&mut piece).unwrap();
    for place in 0..spilled.end.load(Ordering::Relaxed) {
        let mut byte = [0];
        spilled.file.file.read_exact_at(&mut byte, place).unwrap();
        spilled.file.file.write_all_at(&[byte[0] ^ 16], place).unwrap();
        let second = (HEAD_BYTES + 100) as u64;
        let is_damaged = spilled.piece(0).is_err() || spilled.piece(second).is_err();
        assert!(is_damaged, "byte {place}");
        spilled.file.file.write_all_at(&byte, place).unwrap();
    }
    assert!(spilled.piece(0).unwrap().is_some());
}

#[test]
fn a_folder_that_is_gone_is_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = SpillFolder::new(Some(&place.path().join("gone")));
    let error = folder.create_temp_file("a test").err().unwrap().to_string();
    assert!(error.contains("gone") && error.contains("gadus.memory_limit"), "{error}");
}

/// Batches between partitions, each written for itself, take few descriptors; what one writes no other overwrites.
#[test]
fn batches_between_partitions_share_files() {
    let folder = SpillFolder::new(None);
    let file = || folder.create_temp_file(IN_FLIGHT).unwrap();
    let write = |file: &Arc<dyn SpillFile>, byte: u8| {
        let mut writer = file.open_writer().unwrap();
        writer.write_all(&[byte; 3 * PIECE_BYTES]).unwrap();
        writer
    };
    let [first, beside] = [file(), file()];
    let writers = [write(&first, 1), write(&beside, 2)];
    writers.into_iter().for_each(|mut writer| writer.finish().unwrap());
    let mut files = vec![first, beside];
    for byte in 3..=9 {
        let next = file();
        write(&next, byte).finish().unwrap();
        files.push(next);
    }
    for (byte, file) in (1..).zip(&files) {
        assert!(read(&**file).unwrap() == vec![byte; 3 * PIECE_BYTES], "of {byte}");
        assert_eq!(file.size(), files[0].size());
    }
    assert_eq!(folder.shared.lock().len(), 2, "as many as have been written to at a time");
    drop(files);
    assert_eq!(folder.kept().0, 0);
    assert!(folder.take_shared().is_none(), "files go with the last reader");
}

/// `DataFusion` asks for them as we expect it, and several writers wait for none of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repartitioning_without_memory_gives_all_rows_and_shares_files() {
    let folder = SpillFolder::new(None);
    let batch = |first: i64| {
        let values: ArrayRef = Arc::new((first..first + 1000).collect::<Int64Array>());
        RecordBatch::try_from_iter([("a", values)]).unwrap()
    };
    let inputs = [0, 1, 2].map(|input| (0..50).map(|at| batch(1000 * (50 * input + at))).collect());
    let schema = batch(0).schema();
    let input = MemorySourceConfig::try_new_exec(&inputs, schema.clone(), None).unwrap();
    let key = Partitioning::Hash(vec![col("a", &schema).unwrap()], 2);
    let plan = Arc::new(RepartitionExec::try_new(input, key).unwrap());
    let mut config = SessionConfig::new().with_batch_size(100);
    config.options_mut().execution.max_spill_file_size_bytes =
        ConfigNonZeroUsize::try_new(IN_FLIGHT_BYTES_MAX).unwrap();
    let memory_pool = Arc::new(GreedyMemoryPool::new(1));
    let disk_manager = folder.disk_manager();
    let runtime = RuntimeEnv { memory_pool, disk_manager, ..RuntimeEnv::default() };
    let task = TaskContext::default().with_session_config(config).with_runtime(Arc::new(runtime));
    let partitions = collect_partitioned(plan, Arc::new(task)).await.unwrap();
    let rows = partitions.iter().flatten().map(RecordBatch::num_rows).sum::<usize>();
    assert_eq!(rows, 150_000);
    assert!(folder.written().0 > 8 * 150_000, "all are written out");
    let files = folder.shared.lock().len();
    assert!((1..=6).contains(&files), "{files} files, of three writers to each of two partitions");
}
