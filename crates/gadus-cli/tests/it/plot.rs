//! `.plot`, against golden files; `GADUS_REWRITE=1` rewrites them.

use crate::folder::Folder;
use std::fs;
use std::path::Path;
use std::process::Output;

const WAVES: &str =
    "SELECT n, sin(n / 10.0) AS sine, cos(n / 10.0) AS cosine FROM generate_series(0, 100) AS n";
const DAYS: &str = "SELECT DATE '2024-01-01' + CAST(n AS INT) AS day, n * 7919 % 101 * 1000000.0 AS v \
                    FROM generate_series(0, 100) AS n";
const CITIES: &str = "SELECT * FROM (VALUES ('Oslo', 12.5, 3), ('Bergen', 7, -2), ('Tromsø', NULL, 4)) \
                      AS t(city, rain, snow)";
const RESTS: &str = "SELECT n * n % 97 AS rest FROM generate_series(1, 5000) AS n";

fn plotted(folder: &Folder, locale: &str, command: &str) -> Output {
    let mut gadus = folder.gadus(&["-c", command]);
    gadus.env_remove("LC_CTYPE").env_remove("LANG").env("LC_ALL", locale);
    gadus.output().unwrap()
}

fn matches_golden(name: &str, text: &str) {
    // Of the checkout that is tested, which need not be the one that was compiled.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let path = Path::new(&package).join("tests/golden").join(name);
    if std::env::var_os("GADUS_REWRITE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, golden, "{name}: rewrite by GADUS_REWRITE=1 and review the difference");
}

#[test]
fn charts_are_what_their_golden_files_hold() {
    let folder = Folder::new();
    for (name, locale, command) in [
        (
            "plot_line.txt",
            "C.UTF-8",
            format!(".plot {}", WAVES.replace(", cos(n / 10.0) AS cosine", "")),
        ),
        ("plot_lines.txt", "C.UTF-8", format!(".plot line {WAVES}")),
        ("plot_lines_ascii.txt", "C", format!(".plot line {WAVES}")),
        ("plot_scatter.txt", "en_US.utf8", format!(".plot scatter {DAYS}")),
        ("plot_bars.txt", "C.UTF-8", format!(".plot {CITIES}")),
        ("plot_bars_ascii.txt", "POSIX", format!(".plot bar {CITIES};")),
        ("plot_histogram.txt", "C.UTF-8", format!(".plot histogram {RESTS}")),
    ] {
        let output = plotted(&folder, locale, &command);
        assert!(output.status.success(), "{name}: {}", crate::folder::error_of(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}: too wide\n{text}");
        matches_golden(name, &text);
    }
}

#[test]
fn a_chart_is_written_as_a_picture() {
    let folder = Folder::new();
    for (kind, query, parts) in [
        ("", WAVES, &["sine", "cosine", "polyline"][..]),
        ("scatter", DAYS, &["2024-02", "circle", "\nday\n"]),
        ("bar", CITIES, &["Bergen", "rect", "snow"]),
        ("histogram", RESTS, &["rest", "rect", "how many"]),
    ] {
        let output = plotted(&folder, "C", &format!(".plot {kind} --svg 'a chart.svg' {query}"));
        assert!(output.status.success(), "{kind}: {}", crate::folder::error_of(&output));
        assert_eq!(output.stdout, b"", "silent as other commands are");
        let text = fs::read_to_string(folder.path("a chart.svg")).unwrap();
        let is_whole = text.starts_with("<svg") && text.trim_end().ends_with("</svg>");
        assert!(is_whole, "{kind}");
        assert!(!text.contains("href"), "it needs nothing else");
        for part in parts {
            assert!(text.contains(part), "{kind}: {part:?} is not in it");
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = Folder::new();
    for (command, message) in [
        (".plot SELECT 1 AS a WHERE false", "the result has no rows"),
        (".plot SELECT NULL::INT AS a", "all values are NULL"),
        (".plot SELECT 'x' AS a, 'y' AS b", "has to be of numbers; the columns are a, b"),
        (".plot CREATE TABLE t (n INT)", "draws the rows of a query"),
        (".plot", "use: .plot"),
        (".plot bar", "use: .plot"),
        (".plot --svg /none/x.svg SELECT 1", "/none/x.svg cannot be written"),
        (".plot --png x SELECT 1", "there is no option --png"),
        (".plot SELEKT 1", "syntax error"),
        (".plod SELECT 1", "did you mean .plot?"),
    ] {
        let said = folder.refused(&["-c", command]);
        assert!(said.contains(message), "{command}: {said}");
    }
    let many = "SELECT 'c' || n AS c, n FROM generate_series(1, 100) AS n";
    let output = plotted(&folder, "C", &format!(".plot {many}"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("(the first 60 of 100 rows)\n"), "{text}");
    let help = String::from_utf8(folder.piped(&[], ".help").stdout).unwrap();
    assert!(help.contains(".plot [KIND] [--svg FILE] QUERY"), "{help}");
}
