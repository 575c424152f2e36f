//! Files of texts, compressed and not: what is read of them, what is not, and what is said then.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use flate2::Compression;
use flate2::write::GzEncoder;
use gadus::{Connection, Database, ErrorKind, Options};
use std::io::Write;

fn connection() -> Connection {
    Database::open_in_memory(Options::new()).unwrap().connect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_is_written_compressed_is_read_again_by_its_name() {
    let (folder, connection) = (Folder::new(), connection());
    run(&connection, "CREATE TABLE t (id BIGINT, name TEXT, price DOUBLE)");
    run(
        &connection,
        "INSERT INTO t SELECT n, 'name, \"' || n || E'\"\\n' || repeat('x', 20), n / 4.0 \
         FROM generate_series(1, 50000) AS n",
    );
    let expected = rows(&connection, "SELECT count(*), sum(id), sum(price), max(name) FROM t");
    run(&connection, "CREATE TABLE back (id BIGINT, name TEXT, price DOUBLE)");
    let magic: [(&str, &[u8]); 5] = [
        ("", b""),
        (".gz", b"\x1f\x8b"),
        (".zst", b"\x28\xb5\x2f\xfd"),
        (".bz2", b"BZh"),
        (".xz", b"\xfd7zXZ"),
    ];
    for form in ["csv", "json"] {
        for (ending, begins) in magic {
            let file = folder.path(&format!("t.{form}{ending}"));
            let path = file.display();
            run(&connection, &format!("COPY t TO '{path}'"));
            assert!(std::fs::read(&file).unwrap().starts_with(begins), "{path}");
            let read = format!("SELECT count(*), sum(id), sum(price), max(name) FROM '{path}'");
            assert_eq!(rows(&connection, &read), expected, "{path}");
            run(&connection, &format!("COPY back FROM '{path}'"));
            let read = "SELECT count(*), sum(id), sum(price), max(name) FROM back";
            assert_eq!(rows(&connection, read), expected, "{path}");
            run(&connection, "TRUNCATE back");
        }
        let all = folder.path(&format!("t.{form}*"));
        let read =
            format!("SELECT count(*), count(DISTINCT id) FROM read_{form}('{}')", all.display());
        assert_eq!(rows(&connection, &read), ["250000 50000"]);
    }
}

#[test]
fn how_a_file_is_compressed_can_be_said() {
    let (folder, connection) = (Folder::new(), connection());
    run(&connection, "CREATE TABLE t (id BIGINT)");
    run(&connection, "INSERT INTO t VALUES (1), (2)");
    let file = folder.path("t.data");
    let path = file.display();
    run(&connection, &format!("COPY t TO '{path}' (FORMAT csv, COMPRESSION gzip)"));
    assert!(std::fs::read(&file).unwrap().starts_with(b"\x1f\x8b"));
    let read = format!("SELECT sum(id) FROM read_csv('{path}', compression => 'gzip')");
    assert_eq!(rows(&connection, &read), ["3"]);
    run(&connection, &format!("COPY t FROM '{path}' (FORMAT csv, COMPRESSION gzip)"));
    assert_eq!(rows(&connection, "SELECT sum(id) FROM t"), ["6"]);
    let plain = folder.path("t.csv.gz");
    run(&connection, &format!("COPY t TO '{}' (COMPRESSION none)", plain.display()));
    assert!(std::fs::read(&plain).unwrap().starts_with(b"id\n"));
    for (sql, message) in [
        (
            format!("COPY t TO '{path}' (FORMAT csv, COMPRESSION rar)"),
            "there is no compression 'rar'",
        ),
        (
            format!("COPY t TO '{path}' (FORMAT parquet, COMPRESSION xz)"),
            "Parquet has no compression 'xz'",
        ),
        (
            format!("COPY t FROM '{path}' (FORMAT parquet, COMPRESSION zstd)"),
            "a Parquet file says itself",
        ),
        (format!("SELECT * FROM '{path}.parquet.gz'"), "names no format"),
    ] {
        let error = refused(&connection, &sql);
        assert!(error.message().contains(message), "{sql}: {error}");
    }
}

#[test]
fn the_columns_of_parquet_are_compressed_as_is_said() {
    let (folder, connection) = (Folder::new(), connection());
    run(&connection, "CREATE TABLE t (name TEXT)");
    run(
        &connection,
        "INSERT INTO t SELECT 'a longer name ' || (n * 7919 % 50000) FROM generate_series(1, 50000) AS n",
    );
    let written = |codec: &str| {
        let file = folder.path(&format!("{codec}.parquet"));
        let path = file.display();
        run(&connection, &format!("COPY t TO '{path}' (COMPRESSION {codec})"));
        let read = format!("SELECT count(*), count(DISTINCT name) FROM '{path}'");
        assert_eq!(rows(&connection, &read), ["50000 50000"], "{codec}");
        std::fs::metadata(&file).unwrap().len()
    };
    let none = written("none");
    for codec in ["zstd", "snappy", "gzip", "lz4"] {
        let bytes = written(codec);
        assert!(bytes * 10 < none * 9, "{codec}: {bytes} of {none}");
    }
}

#[test]
fn members_of_a_file_are_read_as_one() {
    let (folder, connection) = (Folder::new(), connection());
    let file = folder.path("t.csv.gz");
    std::fs::write(&file, [gzip(b"id\n1\n2"), gzip(b"0\n3\n")].concat()).unwrap();
    let read = format!("SELECT id FROM '{}'", file.display());
    assert_eq!(rows(&connection, &read), ["1", "20", "3"]);
    let zst = folder.path("t.csv.zst");
    run(&connection, &format!("COPY (SELECT 1 AS id) TO '{}'", zst.display()));
    let twice = std::fs::read(&zst).unwrap().repeat(2);
    std::fs::write(&zst, twice).unwrap();
    let read = format!("SELECT * FROM read_csv('{}', header => false)", zst.display());
    assert_eq!(rows(&connection, &read), ["id", "1", "id", "1"]);
}

#[test]
fn a_damaged_file_is_an_error_that_names_it() {
    let (folder, connection) = (Folder::new(), connection());
    run(&connection, "CREATE TABLE t (id BIGINT)");
    let text = (0..20_000).map(|row| format!("{}\n", row * 7919 % 10_007)).collect::<String>();
    let whole = gzip(text.as_bytes());
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    for (name, bytes) in [
        ("cut.csv.gz", &whole[..whole.len() / 2]),
        ("flipped.csv.gz", &flipped),
        ("other.csv.gz", b"id\n1\n"),
        ("zst.csv.zst", b"id\n1\n"),
        ("xz.csv.xz", b"id\n1\n"),
        ("bz.csv.bz2", b"id\n1\n"),
    ] {
        let file = folder.path(name);
        std::fs::write(&file, bytes).unwrap();
        let path = file.display();
        for sql in [
            format!("COPY t FROM '{path}' (HEADER false)"),
            format!("SELECT count(*) FROM '{path}'"),
        ] {
            let error = refused(&connection, &sql);
            assert_eq!(error.kind(), ErrorKind::Input, "{sql}: {error}");
            let names = error.message().starts_with(&*path.to_string());
            assert!(names && error.message().contains("is damaged"), "{sql}: {error}");
        }
    }
    assert_eq!(rows(&connection, "SELECT count(*) FROM t"), ["0"]);
}

#[test]
fn what_a_file_unpacks_to_is_not_held() {
    let (folder, connection) = (Folder::new(), connection());
    run(&connection, "CREATE TABLE t (id BIGINT)");
    // A GiB, of which none but the first records are unpacked.
    let zeros = gzip(&vec![0; 64 << 20]);
    for (name, begin) in [("zeros", &b"id\n1\n"[..]), ("quote", b"id\n1\n\"\n")] {
        let file = folder.path(&format!("{name}.csv.gz"));
        std::fs::write(&file, [gzip(begin), zeros.repeat(16)].concat()).unwrap();
        let path = file.display();
        for sql in [format!("SELECT count(*) FROM '{path}'"), format!("COPY t FROM '{path}'")] {
            let error = refused(&connection, &sql);
            let message = error.message();
            let is_told = message.contains("the record is longer than 64 MiB");
            assert!(is_told && message.contains(&*path.to_string()), "{sql}: {error}");
        }
    }
    let json = folder.path("text.json.gz");
    std::fs::write(&json, [gzip(b"{\"a\":1}\n{\"a\":\""), zeros.repeat(16)].concat()).unwrap();
    let error = refused(&connection, &format!("SELECT count(*) FROM '{}'", json.display()));
    assert!(error.message().contains("line 2: the record is longer than 64 MiB"), "{error}");
    // What comes in records is streamed.
    let rows_of = "id\n".to_owned() + &"1234567\n".repeat(1 << 20);
    let file = folder.path("rows.csv.gz");
    let piece = gzip(&rows_of.as_bytes()[3..]);
    std::fs::write(&file, [gzip(b"id\n"), piece.repeat(8)].concat()).unwrap();
    let read = format!("SELECT count(*), min(id) FROM '{}'", file.display());
    assert_eq!(rows(&connection, &read), [format!("{} 1234567", 8 << 20)]);
}

#[test]
fn quotes_hold_ends_of_lines_wherever_a_large_file_is_divided() {
    let (folder, connection) = (Folder::new(), connection());
    let file = folder.path("t.csv");
    // Twenty MiB, in each line of which could be a record.
    let row = |row: usize| format!("{row},\"a\n1,b\n2,c\"\n");
    let text = (0..1_200_000).map(row).collect::<String>();
    std::fs::write(&file, "id,note\n".to_owned() + &text).unwrap();
    let path = file.display();
    let read = format!("SELECT count(*), count(DISTINCT id), min(note) = max(note) FROM '{path}'");
    assert_eq!(rows(&connection, &read), ["1200000 1200000 true"]);
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_place() {
    let (folder, connection) = (Folder::new(), connection());
    run(&connection, "CREATE TABLE t (id BIGINT, day DATE, code UUID)");
    let begin = "id,day,code\n1,2024-01-02,\n\"2\",2024-01-03,\n";
    let filler = (3..200_000).map(|row| format!("{row},2024-01-02,\n")).collect::<String>();
    for (wrong, message) in [
        ("x7,2024-01-02,\n", "column \"id\": 'x7' is no BIGINT"),
        ("7,2024-01-02,0-1\n", "column \"code\": '0-1': "),
        ("7,2024-13-02,\n", "column \"day\": '2024-13-02' is no DATE"),
        ("7,2024-01-02\n", "column \"code\": 2 values for 3 columns"),
        ("7,2024-01-02,,9\n", "4 values for 3 columns"),
    ] {
        for (before, line) in [("", 4), (&*filler, 200_001)] {
            let (one, two) = (folder.path("a1.csv"), folder.path("a2.csv.gz"));
            std::fs::write(&one, begin).unwrap();
            std::fs::write(&two, gzip(format!("{begin}{before}{wrong}").as_bytes())).unwrap();
            for path in [two.clone(), folder.path("a*.csv*")] {
                let copied = format!("COPY t FROM '{}' (FORMAT csv)", path.display());
                let copied = refused(&connection, &copied);
                let place = format!("{}: line {line}", two.display());
                assert!(copied.message().starts_with(&place), "{copied}");
                assert!(copied.message().contains(message), "{copied}");
            }
        }
    }
    let json = folder.path("x.json");
    std::fs::write(&json, "{\"id\":1}\n\n{\"id\":\n2}\n{\"id\":[}\n").unwrap();
    let error = refused(&connection, &format!("COPY t (id) FROM '{}'", json.display()));
    assert!(error.message().starts_with(&format!("{}: line 5: ", json.display())), "{error}");
}
