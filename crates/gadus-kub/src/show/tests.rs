//! All forms say what was measured, and the page stands alone.

use super::figures::shown;
use super::*;
use crate::report::{Benchmark, Side, sample};

fn report() -> Report {
    let echo = |bytes: &str, scale: f64| {
        let figures = |figure: f64| [figure * scale, figure * scale * 1.5, figure * scale * 0.5];
        let (call, pipe) = (figures(30.0), figures(24_000.0));
        let contestants =
            [("call <with> copy", Side::User, &call[..]), ("pipe", Side::Kernel, &pipe[..])];
        let variables = [("bytes", bytes), ("processor", "other")];
        let cell = sample::cell(Benchmark::Message, "echo", &variables, &contestants);
        crate::Cell { origin: crate::Origin::Modern, ..cell }
    };
    sample::report(vec![echo("64", 1.0), echo("65536", 3.0)])
}

#[test]
fn every_form_has_the_figures_the_skipped_and_the_verdict() {
    for form in [Form::Text, Form::Markdown, Form::Html] {
        let text = render(&report(), form);
        for part in ["24.0 µs", "30.0 ns", "huge pages", "none are set aside", "write through"] {
            assert!(text.contains(part), "{form:?}: {part}");
        }
        for part in ["interprocess communication", "not measured", "no setting needed", "800 ×"] {
            assert!(text.contains(part), "{form:?}: {part}");
        }
    }
}

#[test]
fn the_page_loads_nothing_runs_nothing_and_escapes_names() {
    let page = render(&report(), Form::Html);
    for part in ["http:", "https:", "<script", "<link", "<img", "@import", "url("] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("call &lt;with&gt; copy") && !page.contains("call <with> copy"));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("max-width: 760px"));
    assert_eq!(page.matches("<polyline").count(), 2, "a curve for each contestant");
    for tag in ["table", "div", "figure", "svg", "ul", "main", "tr", "td"] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

/// As the rules for readers with weak eyes have it: what is written is at least 4.5 times as bright as what it is on,
/// or the other way round, in light and in dark.
#[test]
fn what_is_written_can_be_told_from_what_it_is_written_on() {
    let (light, dark) = style::SHEET.split_once("prefers-color-scheme: dark").unwrap();
    for (sheet, all) in [("light", light), ("dark", dark.split_once("}").unwrap().0)] {
        let colour = |name: &str| {
            let (_, rest) = all.split_once(&format!("--{name}: #")).unwrap_or_else(|| {
                panic!("{sheet} has no {name}");
            });
            let part = |place: usize| {
                let value = u8::from_str_radix(&rest[place..place + 2], 16).unwrap();
                let share = f64::from(value) / 255.0;
                if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4) + 0.05
        };
        let back = colour("back");
        for name in ["text", "soft", "kernel", "user", "poor", "good", "very-good", "excellent"] {
            let on = colour(name);
            let contrast = on.max(back) / on.min(back);
            assert!(contrast >= 4.5, "{sheet}: {name} has {contrast:.2}");
        }
    }
}

#[test]
fn lines_of_json_are_read_back_although_the_verdict_is_among_them() {
    let report = report();
    let text = render(&report, Form::JsonLines);
    assert!(text.contains("\"kind\":\"verdict\"") && text.contains("\"kind\":\"setting\""));
    assert_eq!(Report::from_json_lines(&text, "a.json").unwrap(), report);
}

#[test]
fn figures_have_three_digits_and_a_unit_near_them() {
    assert_eq!(shown(1.234, "ns"), "1.23 ns");
    assert_eq!(shown(12_345.0, "ns"), "12.3 µs");
    assert_eq!(shown(123_456_789.0, "ns"), "123 ms");
    assert_eq!(shown(2.5e9, "ns"), "2.50 s");
    assert_eq!(shown(f64::NAN, "ns"), "unknown");
    assert_eq!(shown(99.97, "ns"), "100 ns");
}

#[test]
fn a_comparison_says_what_has_changed() {
    let (first, mut second) = (report(), report());
    second.identity.kernel = "7.0".to_owned();
    for measured in second.cells.iter_mut().flat_map(|cell| &mut cell.measured) {
        measured.summary = crate::Summary::of(&[1e6, 1e6]);
    }
    let comparison = crate::compare(&first, &second);
    let text = comparison.to_text("old.json", "new.json");
    assert!(text.contains("4 of 4 figures have changed"), "{text}");
    assert!(
        text.contains("old.json") && text.contains("7.0") && text.contains("1.00 ms"),
        "{text}"
    );
    let lines = comparison.to_json_lines();
    assert_eq!(lines.lines().count(), 5, "{lines}");
    assert!(lines.contains("\"changed\":true"));
}
