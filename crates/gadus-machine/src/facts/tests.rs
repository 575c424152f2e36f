//! What is remembered, what has changed, what is written down.

use super::*;

fn facts(load: f64) -> Facts {
    let mut facts = Facts::default();
    facts.note(("core 0", "load"), load, "", Source::Observed);
    facts.note(("node 0", "size"), 4_u64 << 30, "bytes", Source::Discovered);
    facts.note(
        ("machine", "pressure"),
        FactValue::Unknown("no /proc/pressure".into()),
        "",
        Source::Observed,
    );
    facts
}

#[test]
fn who_looks_again_sees_what_has_changed() {
    let mut known = facts(0.5);
    let before = known.version();
    known.note(("core 0", "load"), 0.5, "", Source::Observed);
    assert_eq!(known.changed_since(before).count(), 0);
    known.note(("core 0", "load"), 0.75, "", Source::Observed);
    let changed =
        known.changed_since(before).map(|fact| fact.value.to_string()).collect::<Vec<_>>();
    assert_eq!(changed, ["0.75"]);
}

#[test]
fn facts_are_written_and_read() {
    let known = facts(0.5);
    let text = known.to_json().to_string();
    let read = Facts::from_json(&text, "a.json").unwrap();
    assert!(known.iter().eq(read.iter()));
    for (right, wrong, said) in [
        ("gadus facts 1", "gadus facts 9", "no file of facts"),
        ("\"source\":\"observed\"", "\"source\":\"dreamt\"", "is none"),
        ("\"confidence\":1.0", "\"confidence\":7.0", "is none"),
        ("]", "", "a.json: "),
    ] {
        assert!(text.contains(right), "{text}");
        let error = Facts::from_json(&text.replacen(right, wrong, 1), "a.json").unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn what_differs_is_told_but_noise_is_not() {
    let old = facts(0.5);
    assert!(old.differences(&facts(0.51)).is_empty());
    let mut new = facts(0.9);
    new.note(("core 1", "load"), 0.1, "", Source::Observed);
    let told = old.differences(&new).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(told, ["~ core 0 load: 0.5 -> 0.9", "+ core 1 load: 0.1"]);
}

#[test]
fn facts_are_shown_with_their_units() {
    let shown = facts(0.5).iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected = [
        "core 0 load: 0.5",
        "machine pressure: unknown: no /proc/pressure",
        "node 0 size: 4.0 GiB",
    ];
    assert_eq!(shown, expected);
}
