//! Instances of one database of which one has trouble with its disk.

use crate::reference::verify;
use gadus_base::ByteCount;
use gadus_block::{
    ErrorKind as BlockErrorKind, Fault, FaultPlan, FaultyFolder, FileFolder, Folder,
};
use gadus_block::{Operation, Repeat};
use gadus_engine::{
    ColumnDefinition, ColumnType, Datum, Durability, Engine, Options, RowChange, Sharing,
    TableSchema,
};
use std::path::Path;
use std::sync::Arc;

const NAME: &str = "x.gadus";

fn open(folder: Arc<dyn Folder>, memory: &Path) -> Engine {
    let sharing = Sharing::Shared { memory: memory.to_owned() };
    let log_zone = ByteCount(1 << 14);
    Engine::open(folder, NAME, Options { sharing, log_zone, ..Options::default() }).unwrap()
}

fn schema() -> TableSchema {
    let column = |name: &str| ColumnDefinition {
        name: name.to_owned(),
        column_type: ColumnType::Int64,
        nullable: false,
        default: None,
    };
    TableSchema::new("t", vec![column("id"), column("n")], vec![0]).unwrap()
}

fn delete(engine: &Engine, schema: &TableSchema, id: i64) {
    let key = [Datum::Integer(id)];
    let deleted = engine.change_row(schema, &key, Durability::Sync, |_| Ok(RowChange::Delete));
    assert_eq!(deleted.unwrap(), 1);
}

/// One instance writes checkpoints; the other fails to read what they name, and then writes its own
/// on top of them.
#[test]
fn a_checkpoint_that_could_not_be_read_is_read_again_before_the_next() {
    let root = tempfile::tempdir().unwrap();
    let folder = Arc::new(FileFolder::new(root.path()));
    let plan = FaultPlan::new();
    let steady = open(folder.clone(), root.path());
    let mut transaction = steady.begin().unwrap();
    let schema = transaction.create_table(&schema()).unwrap();
    let rows = (0..2_000).map(|id| Arc::from([Datum::Integer(id), Datum::Integer(0)]));
    transaction.insert(&schema, rows.collect()).unwrap();
    transaction.commit().unwrap();
    steady.fold().unwrap();
    let shaky = open(Arc::new(FaultyFolder::new(folder.clone(), plan.clone())), root.path());
    shaky.checkpoint().unwrap();
    for round in 0..20 {
        // An overlay that the checkpoint names, written anew each time: the last one's space is
        // used again soon.
        delete(&steady, &schema, 2 * round);
        steady.checkpoint().unwrap();
        let nth = plan.count_on(NAME, Operation::Read) + 1 + round.unsigned_abs() % 4;
        let fault = Fault::Error(BlockErrorKind::Io);
        plan.fail_on(NAME, Operation::Read, nth, Repeat::Forever, fault);
        // Some of it can be read, some not.
        let _ = shaky.checkpoint();
        plan.heal();
        delete(&shaky, &schema, 2 * round + 1);
        shaky.checkpoint().unwrap();
        verify(&steady, "steady");
        verify(&shaky, "shaky");
    }
    drop((steady, shaky));
    let engine = open(folder, root.path());
    verify(&engine, "opened again");
    assert_eq!(engine.snapshot().unwrap().table("t").unwrap().rows(), 1_960);
}
