//! Machines that are described, and files of a kernel that are made up.

use super::*;
use std::fs;

/// Two sockets of two cores with a shared L3 each, memory of 4 GiB beside each, and memory alone.
const DESCRIBED: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000000f" nodeset="0x00000007">
    <info name="DMIProductName" value="Two by two"/>
    <object type="Package" os_index="0" cpuset="0x00000003" nodeset="0x00000001">
      <object type="NUMANode" os_index="0" cpuset="0x00000003" nodeset="0x00000001" local_memory="4294967296">
        <page_type size="4096" count="1048576"/>
        <page_type size="2097152" count="8"/>
      </object>
      <object type="L3Cache" cpuset="0x00000003" cache_size="6291456" depth="3" cache_linesize="64" cache_type="0">
        <object type="Core" os_index="0" cpuset="0x00000001"><object type="PU" os_index="0" cpuset="0x00000001"/></object>
        <object type="Core" os_index="1" cpuset="0x00000002"><object type="PU" os_index="1" cpuset="0x00000002"/></object>
      </object>
      <object type="OSDev" name="eth0" osdev_type="2"/>
    </object>
    <object type="Package" os_index="1" cpuset="0x0000000c" nodeset="0x00000002">
      <object type="NUMANode" os_index="1" cpuset="0x0000000c" nodeset="0x00000002" local_memory="4294967296"/>
      <object type="L3Cache" cpuset="0x0000000c" cache_size="6291456" depth="3" cache_linesize="64" cache_type="0">
        <object type="Core" os_index="0" cpuset="0x0000000c">
          <object type="PU" os_index="2" cpuset="0x00000004"/><object type="PU" os_index="3" cpuset="0x00000008"/>
        </object>
      </object>
    </object>
    <object type="NUMANode" os_index="2" cpuset="0x0" nodeset="0x00000004" local_memory="17179869184"/>
  </object>
  <distances2 type="NUMANode" nbobjs="3" kind="5" indexing="os">
    <indexes length="6">0 1 2 </indexes>
    <u64values length="9">10 20 30 20 10 </u64values><u64values length="8">30 30 30 10 </u64values>
  </distances2>
  <cpukind cpuset="0x00000003"><info name="FrequencyMaxMHz" value="2000"/></cpukind>
  <cpukind cpuset="0x0000000c"><info name="FrequencyMaxMHz" value="4000"/></cpukind>
</topology>"#;

#[test]
fn a_description_of_hwloc_is_read() {
    let machine = Topology::from_xml(DESCRIBED, "two.xml").unwrap();
    assert_eq!(machine.name.as_deref(), Some("Two by two"));
    let cores = machine.cores.iter();
    let cores = cores.map(|core| (core.cpus.to_string(), core.socket, core.node, core.capacity));
    let expected = [("0", 0, Some(0), 512), ("1", 0, Some(0), 512), ("2-3", 1, Some(1), 1024)];
    let expected =
        expected.map(|(cpus, socket, node, capacity)| (cpus.to_owned(), socket, node, capacity));
    assert_eq!(cores.collect::<Vec<_>>(), expected);
    let caches = machine.data_caches(3).map(|cache| (cache.bytes, cache.cpus.to_string()));
    let caches = caches.collect::<Vec<_>>();
    assert_eq!(
        caches,
        [(ByteCount::mib(6), "0-1".to_owned()), (ByteCount::mib(6), "2-3".to_owned())]
    );
    let sizes = machine.nodes.iter().map(|node| node.bytes.unwrap());
    assert_eq!(sizes.collect::<Vec<_>>(), [4, 4, 16].map(ByteCount::gib));
    assert_eq!(machine.nodes[0].pages, [PageSize { bytes: ByteCount::mib(2), count: 8 }]);
    assert!(machine.nodes[2].cpus.is_empty());
    assert_eq!((machine.distance(1, 0), machine.distance(2, 2)), (Some(20), Some(10)));
    let network = Device { name: "eth0".to_owned(), kind: DeviceKind::Network, node: Some(0) };
    assert_eq!(machine.devices, [network]);
}

#[test]
fn a_wrong_description_is_refused_with_its_place() {
    for (right, wrong, said) in [
        ("</topology>", "", "two.xml: "),
        ("version=\"2.0\"", "", "lstopo --input"),
        ("<topology version=\"2.0\">", "<machine version=\"2.0\">", "two.xml: "),
        ("os_index=\"3\" cpuset", "os_index=\"many\" cpuset", "two.xml"),
        (
            "cpuset=\"0x0000000c\" cache_size",
            "cpuset=\"0xg\" cache_size",
            "cpuset=\"0xg\" of a L3Cache",
        ),
        ("20 30 20 10", "20 30 20", "u64values"),
        ("0 1 2 ", "0 1 7 ", "indexes"),
        (
            "cpuset=\"0x00000002\"><object",
            "cpuset=\"0x00000001\"><object",
            "processor 0 belongs to two",
        ),
        ("NUMANode\" os_index=\"1\"", "NUMANode\" os_index=\"0\"", "indexes"),
    ] {
        assert!(DESCRIBED.contains(right), "{right}");
        let error = Topology::from_xml(&DESCRIBED.replacen(right, wrong, 1), "two.xml");
        match error {
            Err(error) => assert!(error.to_string().contains(said), "{error} after {wrong}"),
            // A processor's number matters only where it is no core's.
            Ok(_) => assert!(wrong.contains("many"), "{wrong}"),
        }
    }
}

/// However it is hidden how deep they lie: the description is read to its end, or refused, on a stack as small as
/// threads have.
#[test]
fn a_description_without_end_is_refused() {
    const COUNT: usize = 100_000;
    let top = r#"<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x1">"#;
    let within = |begin: &str, end: &str| {
        format!("{top}{}{}</object></topology>", begin.repeat(COUNT), end.repeat(COUNT))
    };
    for deep in [
        within("<object>", "</object>"),
        within(r#"<object type="Group" name="/>">"#, "</object>"),
        within("<object><![CDATA[</object>]]>", "</object>"),
        within("<object><!--</object>-->", "</object>"),
    ] {
        let error = Topology::from_xml(&deep, "deep.xml").unwrap_err().to_string();
        assert_eq!(error, "deep.xml: no machine has objects within 200 others");
    }
    let open = format!("{top}{}", "<object>".repeat(COUNT));
    assert!(Topology::from_xml(&open, "deep.xml").is_err());
    let many = format!("{top}{}", "<a/>".repeat(2_000_000));
    let error = Topology::from_xml(&many, "many.xml").unwrap_err().to_string();
    assert!(error.contains("nodes limit"), "{error}");
}

#[test]
fn numbers_that_no_processor_or_node_has_are_refused() {
    let core = r#"<object type="Core" os_index="0" cpuset="0x00000001"><object type="PU" os_index="0" cpuset="0x00000001"/></object>"#;
    assert!(DESCRIBED.contains(core));
    let huge = DESCRIBED.replacen(core, r#"<object type="PU" os_index="4294967295"/>"#, 1);
    let error = Topology::from_xml(&huge, "huge.xml").unwrap_err().to_string();
    assert!(error.starts_with("huge.xml:12:9: os_index=\"4294967295\" of a PU"), "{error}");
    let huge = DESCRIBED.replacen("NUMANode\" os_index=\"2\"", "NUMANode\" os_index=\"65537\"", 1);
    let error = Topology::from_xml(&huge, "huge.xml").unwrap_err().to_string();
    assert!(error.contains(": os_index=\"65537\" of a NUMANode"), "{error}");
}

#[test]
fn more_memory_nodes_than_a_kernel_knows_are_refused() {
    let described = |count: usize| {
        let nodes = (0..count).rev();
        let nodes = nodes.map(|node| format!(r#"<object type="NUMANode" os_index="{node}"/>"#));
        let nodes = nodes.collect::<String>();
        format!(
            r#"<topology version="2.0"><object type="Machine"><object type="PU" os_index="0"/>{nodes}</object></topology>"#
        )
    };
    let machine = Topology::from_xml(&described(1024), "many.xml").unwrap();
    assert_eq!((machine.node_place(7), machine.node_place(1024)), (Some(7), None));
    let error = Topology::from_xml(&described(1025), "many.xml").unwrap_err().to_string();
    assert_eq!(error, "many.xml: no machine has more than 1024 memory nodes");
}

#[test]
fn the_files_of_a_kernel_are_read() {
    let sys = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = sys.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("devices/system/cpu/online", "0-2\n");
    for cpu in 0..4 {
        let folder = format!("devices/system/cpu/cpu{cpu}");
        let pair = if cpu < 2 { "0-1" } else { "2-3" };
        write(&format!("{folder}/topology/core_cpus_list"), pair);
        write(&format!("{folder}/topology/physical_package_id"), "-1");
        for (file, text) in [
            ("level", "2"),
            ("type", "Unified"),
            ("size", "1024K"),
            ("coherency_line_size", "64"),
            ("shared_cpu_list", pair),
        ] {
            write(&format!("{folder}/cache/index0/{file}"), text);
        }
    }
    for (node, cpus, distances) in [(0, "0-3", "10 40"), (4, "", "40 10")] {
        let folder = format!("devices/system/node/node{node}");
        write(
            &format!("{folder}/meminfo"),
            &format!("Node {node} MemTotal:   2048 kB\nNode {node} MemFree: 1 kB\n"),
        );
        write(&format!("{folder}/cpulist"), cpus);
        write(&format!("{folder}/distance"), distances);
        write(&format!("{folder}/hugepages/hugepages-2048kB/nr_hugepages"), "3\n");
    }
    write("class/block/vda/device/numa_node", "0");
    write("class/block/loop0/size", "0");
    let machine = sys::read(sys.path()).unwrap().checked("made up").unwrap();
    let cores = machine.cores.iter().map(|core| (core.cpus.to_string(), core.socket, core.node));
    let expected = [("0-1", 0, Some(0)), ("2", 0, Some(0))];
    assert_eq!(
        cores.collect::<Vec<_>>(),
        expected.map(|(cpus, socket, node)| (cpus.to_owned(), socket, node))
    );
    let caches = machine.data_caches(2).map(|cache| (cache.bytes, cache.cpus.to_string()));
    let expected = ["0-1", "2"].map(|cpus| (ByteCount::mib(1), cpus.to_owned()));
    assert_eq!(caches.collect::<Vec<_>>(), expected);
    let nodes = machine.nodes.iter().map(|node| (node.number, node.bytes, node.cpus.count()));
    let memory = Some(ByteCount::mib(2));
    assert_eq!(nodes.collect::<Vec<_>>(), [(0, memory, 3), (4, memory, 0)]);
    assert_eq!(machine.distance(0, 4), Some(40));
    let disk = Device { name: "vda".to_owned(), kind: DeviceKind::Block, node: Some(0) };
    assert_eq!(machine.devices, [disk]);
    fs::remove_dir_all(sys.path().join("devices")).unwrap();
    assert_eq!(sys::read(sys.path()).unwrap_err().kind(), ErrorKind::Unknown);
}

#[test]
fn this_machine_is_discovered() {
    let here = Topology::discover().unwrap();
    let count = std::thread::available_parallelism().unwrap().get();
    assert!(here.cpus().count() >= count, "{here:?}");
    for cpu in here.cpus().iter() {
        assert!(here.core_of(cpu).is_some());
    }
}
