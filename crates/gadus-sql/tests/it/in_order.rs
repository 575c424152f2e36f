//! Rows that come from files stand in their table as they stood there.

use crate::support::Shell;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use gadus_engine::ScanRequest;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// Enough for several pieces, of several segments each.
const ROWS: usize = 450_000;

/// Writes rows whose numbers rise, of sixty bytes each.
fn write_rows(path: &Path) {
    let mut text = String::from("id,note\n");
    for id in 0..ROWS {
        writeln!(text, "{id:06},n{:051}", id * 7919).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// The numbers of a table in the order in which its rows stand.
fn ids(shell: &Shell, table: &str) -> Vec<i64> {
    let table = shell.engine().snapshot().unwrap().table(table).unwrap();
    let scan = table.scan(ScanRequest { projection: vec![0], ..ScanRequest::default() }).unwrap();
    let mut ids = Vec::new();
    for morsel in 0..scan.morsels() {
        let add = |batch: arrow::array::RecordBatch| {
            ids.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
            ControlFlow::Continue(())
        };
        scan.morsel(morsel, add).unwrap();
    }
    ids
}

#[test]
fn rows_of_files_keep_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (csv, parquet) = (path("rows.csv"), path("rows.parquet"));
    write_rows(Path::new(&csv));
    let shell = Shell::new();
    shell.run(&format!("COPY (SELECT * FROM '{csv}' ORDER BY id) TO '{parquet}'"));
    shell.run("CREATE TABLE copied (id BIGINT, note TEXT)");
    shell.run(&format!("COPY copied FROM '{csv}'"));
    shell.run("CREATE TABLE inserted (id BIGINT, note TEXT)");
    shell.run(&format!("INSERT INTO inserted SELECT id, note FROM '{parquet}' WHERE id >= 0"));
    shell.run(&format!("CREATE TABLE made AS SELECT id, upper(note) AS note FROM '{csv}'"));
    for table in ["copied", "inserted", "made"] {
        let ids = ids(&shell, table);
        assert_eq!(ids.len(), ROWS, "{table}");
        assert!(ids.iter().copied().eq(0..ROWS as i64), "{table}");
    }
    let explained =
        shell.run("EXPLAIN SELECT upper(note) FROM copied WHERE id BETWEEN 200000 AND 200100");
    assert!(explained.contains("segments=1, pruned=6"), "{explained}");
}
