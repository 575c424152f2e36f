//! Processes that change both sides of foreign keys at once, some of which are killed: no row ever refers to nothing.

use crate::files::Folder;
use gadus::{ByteCount, Connection, Database, Error, ErrorKind, Options};
use gadus_base::Random;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const FOLDER: &str = "GADUS_FOREIGN_KEYS_TEST_FOLDER";
const SEED: &str = "GADUS_FOREIGN_KEYS_TEST_SEED";
const PROCESSES: usize = 3;
const SHOPS: u64 = 12;
const TRANSACTIONS: u64 = 150;
const KILLS: usize = 4;

/// Rows that refer to nothing, by each foreign key.
const ORPHANS: &str = "SELECT (SELECT count(*) FROM kept WHERE shop NOT IN (SELECT id FROM shops)), \
                       (SELECT count(*) FROM gone WHERE shop NOT IN (SELECT id FROM shops)), \
                       (SELECT count(*) FROM nulled WHERE shop NOT IN (SELECT id FROM shops))";

fn open(folder: &Path) -> Result<Database, Error> {
    let options = Options::new().threads(1).checkpoint_log(ByteCount(16 << 10));
    Database::open(folder.join("x.gadus"), options)
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(folder: &Path, seed: u64) -> Process {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "foreign_keys::processes::child", "--nocapture"]);
    command.env(FOLDER, folder).env(SEED, seed.to_string());
    Process(command.stdout(Stdio::piped()).spawn().unwrap())
}

#[test]
fn no_row_refers_to_nothing_whoever_changes_both_sides_and_is_killed() {
    let folder = Folder::new();
    let path = folder.path("");
    let script = "CREATE TABLE shops (id BIGINT PRIMARY KEY, name TEXT); \
                  CREATE TABLE kept (id BIGINT, shop BIGINT REFERENCES shops); \
                  CREATE TABLE gone (id BIGINT, shop BIGINT REFERENCES shops ON DELETE CASCADE \
                    ON UPDATE CASCADE); \
                  CREATE TABLE nulled (id BIGINT, shop BIGINT REFERENCES shops ON DELETE SET NULL \
                    ON UPDATE CASCADE)";
    open(&path).unwrap().connect().execute_script(script).unwrap();
    let seed = std::env::var(SEED).map_or_else(
        |_| Random::from_system().next_u64(),
        |seed| seed.parse().expect("a seed is a number"),
    );
    let mut random = Random::seeded(seed);
    let mut processes =
        (0..PROCESSES as u64).map(|number| start(&path, seed ^ number)).collect::<Vec<_>>();
    for kill in 0..KILLS {
        // After it has done a part of its work.
        let place = kill % PROCESSES;
        let lines = BufReader::new(processes[place].0.stdout.take().unwrap()).lines();
        let wanted = usize::try_from(5 + random.below(40)).unwrap();
        let done = lines.map_while(Result::ok).filter(|line| line.contains("did")).take(wanted);
        assert!(done.count() > 0, "{SEED}={seed}");
        processes[place] = start(&path, seed ^ (100 + kill as u64));
    }
    for process in &mut processes {
        let said = process.0.stdout.take().unwrap();
        let said = BufReader::new(said).lines().map_while(Result::ok).collect::<Vec<_>>();
        let status = process.0.wait().unwrap();
        assert!(status.success(), "{SEED}={seed}: {said:?}");
    }
    let connection = open(&path).unwrap().connect();
    assert_eq!(orphans(&connection).unwrap(), [0, 0, 0], "{SEED}={seed}");
    let row = connection.query("SELECT count(*) FROM kept", &[]).unwrap().next().unwrap().unwrap();
    assert!(row.get::<i64>(0).unwrap() > 0, "{SEED}={seed}");
    drop(connection);
    assert!(gadus::check(path.join("x.gadus"), |_, _| ()).unwrap().problems.is_empty());
}

fn orphans(connection: &Connection) -> Result<[i64; 3], Error> {
    let row = connection.query(ORPHANS, &[])?.next().expect("counts are one row")?;
    Ok([row.get(0)?, row.get(1)?, row.get(2)?])
}

/// What a process does; nothing in the parent.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let seed = std::env::var(SEED).unwrap().parse().unwrap();
    let (database, mut random) = (open(Path::new(&folder)).unwrap(), Random::seeded(seed));
    let connection = database.connect();
    for number in 0..TRANSACTIONS {
        let outcome = match random.chance(0.5) {
            true => connection.execute(&statement(&mut random), &[]).map(|_| ()),
            false => transaction(&connection, &mut random),
        };
        if let Err(error) = outcome {
            let expected = [
                ErrorKind::ForeignKeyViolation,
                ErrorKind::UniqueViolation,
                ErrorKind::Conflict,
                ErrorKind::Deadlock,
            ];
            assert!(expected.contains(&error.kind()), "{:?}: {error}", error.kind());
            if connection.in_transaction() {
                connection.execute("ROLLBACK", &[]).unwrap();
            }
        }
        if number % 10 == 0 {
            assert_eq!(orphans(&connection).unwrap(), [0, 0, 0]);
        }
        // Who is killed has nobody who listens.
        let _ = writeln!(std::io::stdout(), "did");
    }
}

fn transaction(connection: &Connection, random: &mut Random) -> Result<(), Error> {
    let level = if random.chance(0.5) { "SNAPSHOT" } else { "READ COMMITTED" };
    connection.execute(&format!("BEGIN ISOLATION LEVEL {level}"), &[])?;
    for _ in 0..1 + random.below(3) {
        connection.execute(&statement(random), &[])?;
    }
    connection.execute("COMMIT", &[]).map(|_| ())
}

fn statement(random: &mut Random) -> String {
    let (shop, other) = (random.below(SHOPS), random.below(SHOPS));
    let table = ["kept", "gone", "nulled"][usize::try_from(random.below(3)).unwrap()];
    match random.below(12) {
        0..2 => format!("INSERT INTO shops VALUES ({shop}, 'x') ON CONFLICT DO NOTHING"),
        2..4 => format!("DELETE FROM shops WHERE id = {shop}"),
        4 => format!("UPDATE shops SET id = {other} WHERE id = {shop}"),
        5 => format!("UPDATE shops SET name = 'y' WHERE id = {shop}"),
        6 => format!("DELETE FROM kept WHERE shop = {shop}"),
        7 => format!("UPDATE {table} SET shop = {other} WHERE shop = {shop}"),
        8 => format!("INSERT INTO {table} SELECT 2, id FROM shops WHERE id % 3 = {}", shop % 3),
        _ => format!("INSERT INTO {table} VALUES (1, {shop})"),
    }
}
