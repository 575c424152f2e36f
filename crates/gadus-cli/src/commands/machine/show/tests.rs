//! Pictures of machines that are described.

use super::*;
use unicode_width::UnicodeWidthStr;

fn described_machine(name: &str) -> Topology {
    // Tests run in the folder of their crate.
    let xml = fs::read_to_string(format!("../gadus-machine/topologies/{name}")).unwrap();
    Topology::from_xml(&xml, name).unwrap()
}

const MACHINES: [&str; 5] =
    ["shanghai.xml", "two-sockets-smt.xml", "hybrid.xml", "memory-only.xml", "sixty-four.xml"];

#[test]
fn parts_stand_within_each_other() {
    let machine = described_machine("shanghai.xml");
    let picture = Part::of(&machine, "shanghai.xml");
    let lines = text::lines(&picture, &machine, None, WIDTH);
    let expected = [
        "shanghai.xml: 16 cores, 16 processors, 4 memory nodes",
        "┌ package 0",
        "│ ┌ node 0, 4.0 GiB",
        "│ │ ┌ L3 6.0 MiB of 0-3",
        "│ │ │ each core: L1 64.0 KiB, L2 512.0 KiB",
        "│ │ │ [0]  [1]  [2]  [3]",
        "┌ package 1",
    ];
    assert_eq!(&lines[..expected.len()], expected);
    assert_eq!(lines.len(), 1 + 4 * 5);
}

#[test]
fn memory_beside_no_core_and_slow_cores_are_told() {
    let lines = |name: &str| {
        let machine = described_machine(name);
        text::lines(&Part::of(&machine, name), &machine, None, WIDTH).join("\n")
    };
    let alone = lines("memory-only.xml");
    assert!(alone.contains("\n┌ node 2, ") && alone.contains(", beside no core"), "{alone}");
    let hybrid = lines("hybrid.xml");
    assert!(hybrid.contains("59 % as fast as the fastest"), "{hybrid}");
}

#[test]
fn bars_show_what_runs_and_what_others_have() {
    let machine = described_machine("one-by-two.xml");
    let loads = [Load { busy: 0.5, stolen: 0.25 }, Load { busy: 1.0, stolen: 0.0 }];
    let lines = text::lines(&Part::of(&machine, "two"), &machine, Some(&loads), WIDTH);
    let bars = lines.last().unwrap();
    assert!(bars.contains("████▒▒··  50 %") && bars.contains("████████ 100 %"), "{bars}");
}

/// On any terminal, with the processors of all cores, each once.
#[test]
fn no_line_is_wider_than_the_terminal() {
    for name in MACHINES {
        let machine = described_machine(name);
        let picture = Part::of(&machine, name);
        let loads = vec![Load { busy: 0.5, stolen: 0.0 }; machine.cores.len()];
        for (loads, width) in [(None, 40), (Some(&loads[..]), 60), (Some(&loads[..]), 200)] {
            let lines = text::lines(&picture, &machine, loads, width);
            for line in &lines {
                assert!(line.width() <= width, "{name}, {width}: {line}");
            }
            let shown = lines.join("\n").matches('[').count();
            assert_eq!(shown, machine.cores.len(), "{name}, {width}: {lines:#?}");
        }
    }
}

#[test]
fn drawings_are_xml_with_all_cores() {
    for name in MACHINES {
        let machine = described_machine(name);
        let loads = vec![Load { busy: 0.5, stolen: 0.1 }; machine.cores.len()];
        let picture = Part::of(&machine, "<A & B>");
        let drawing = svg::drawing(&picture, &machine, Some(&loads));
        assert!(drawing.contains("&lt;A &amp; B&gt;: "), "{name}");
        assert_eq!(drawing.matches("fill=\"#385\"").count(), machine.cores.len(), "{name}");
        assert_eq!(drawing.matches("<g ").count(), drawing.matches("</g>").count());
    }
}

#[test]
fn descriptions_have_loads_where_they_are_known() {
    let machine = described_machine("two-sockets-smt.xml");
    let loads = vec![Load { busy: 0.5, stolen: 0.0 }; machine.cores.len()];
    let told = described(&machine, Some(&loads));
    assert_eq!(told["cores"][3]["load"], 0.5);
    assert_eq!(told["cores"][3]["processors"].as_array().unwrap().len(), 2);
    assert!(described(&machine, None)["cores"][3]["load"].is_null());
    assert_eq!(told["nodes"].as_array().unwrap().len(), 2);
}
