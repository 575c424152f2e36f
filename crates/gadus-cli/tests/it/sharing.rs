//! Several programs on one file.

use crate::folder::Folder;
use crate::shells::Shell;
use rustix::process::Signal;

#[test]
fn two_shells_share_a_file_and_others_see_who_keeps_what() {
    let folder = Folder::new();
    let (mut one, mut two) = (Shell::open(&folder, &[]), Shell::open(&folder, &[]));
    one.run("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
    one.run("INSERT INTO t VALUES (1, 1), (2, 2)");
    assert_eq!(two.run("SELECT sum(n) AS s FROM t"), "s\n3\n");
    one.run("BEGIN; UPDATE t SET n = 10 WHERE id = 1");
    let locks = folder.printed(&["locks", "x.gadus", "--json"]);
    let locks = locks.lines().map(|line| serde_json::from_str(line).unwrap());
    let locks = locks.collect::<Vec<serde_json::Value>>();
    let row = locks.iter().find(|lock| lock["granted"] == "X").unwrap();
    assert_eq!((&row["table"], &row["pid"]), (&"t".into(), &one.id().into()));
    assert!(row["resource"].as_str().unwrap().starts_with("row 0 of"), "{row}");
    let sessions = folder.printed(&["sessions", "x.gadus", "--json"]);
    for shell in [&one, &two] {
        assert!(sessions.contains(&format!("\"pid\":{}", shell.id())), "{sessions}");
    }
    assert!(folder.printed(&["sessions", "x.gadus"]).contains("since"));
    let figures = folder.printed(&["locks", "x.gadus", "--table", "--json"]);
    let figures: serde_json::Value = serde_json::from_str(&figures).unwrap();
    assert!(figures["slots_used"].as_u64().unwrap() >= 1, "{figures}");
    for _ in 0..3 {
        let system = "SELECT granted, pid FROM gadus.locks WHERE resource LIKE 'row 0 of %'";
        assert_eq!(two.run(system), format!("granted,pid\nX,{}\n", one.id()));
    }
    let processes = "SELECT count(DISTINCT pid) AS n FROM gadus.sessions";
    assert_eq!(two.run(processes), "n\n2\n");
    // Who is stopped with a lock keeps that row, and nothing else.
    one.send(Signal::STOP);
    two.run("INSERT INTO t VALUES (3, 3)");
    two.run("UPDATE t SET n = 20 WHERE id = 2");
    assert_eq!(two.run("SELECT sum(n) AS s FROM t"), "s\n24\n");
    let kept = "SET lock_timeout = 1; UPDATE t SET n = 0 WHERE id = 1";
    let refused = folder.refused(&["x.gadus", "-c", kept]);
    assert!(refused.contains(&format!("process {} ", one.id())), "{refused}");
    // Whoever waits in vain may end a session; also one of a program that is not theirs.
    let mut three = Shell::open(&folder, &[]);
    three.run("BEGIN; UPDATE t SET n = 30 WHERE id = 3");
    let pid = three.id();
    let own = format!("SELECT id FROM gadus.sessions WHERE pid = {pid} AND locks > 0");
    let id = two.run(&own);
    let id = id.trim_start_matches("id\n").trim();
    folder.printed(&["x.gadus", "-c", &format!("KILL {id}")]);
    assert_eq!(two.run("UPDATE t SET n = 3 WHERE id = 3; SELECT sum(n) AS s FROM t"), "s\n24\n");
    drop(three);
    // Who is killed with one keeps nothing.
    one.send(Signal::KILL);
    assert_eq!(two.run("UPDATE t SET n = 5 WHERE id = 1; SELECT sum(n) AS s FROM t"), "s\n28\n");
    assert_eq!(folder.printed(&["locks", "x.gadus", "--json"]), "");
    drop(two);
    assert!(folder.printed(&["check", "x.gadus"]).ends_with("sound\n"));
}
