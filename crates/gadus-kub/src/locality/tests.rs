//! Pieces are where they should be, file systems are mounted for one thread alone and leave
//! nothing behind, and the modelled disk takes what anybody can compute.

use super::file_systems::{ALL, overwrite, prepare, rewrite};
use super::fragments::{PIECE_BYTES, in_pieces};
use super::growth::{Way, create, has_zeros, lengthen};
use super::modelled::Disk;
use crate::ErrorKind;
use crate::harness::{Stopwatch, SystemInstruments};
use crate::system::{Extent, OwnMounts};
use std::rc::Rc;
use std::time::Duration;

#[test]
fn a_file_has_as_many_pieces_as_were_made_and_its_bytes_are_in_order() {
    let folder = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let path = folder.path().join("pieces");
    for (pieces, gap) in [(160, 4096), (160, 65536), (16, 65536)] {
        let extents = match in_pieces(&path, pieces, gap) {
            Ok(extents) => extents,
            // A file system that cannot is one that Kub tells so.
            Err(error) => {
                return assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            }
        };
        assert_eq!(extents.len() as u64, pieces);
        let bytes = extents.iter().map(|extent| extent.bytes).sum::<u64>();
        assert_eq!(bytes, 160 * PIECE_BYTES);
        let gaps =
            extents.windows(2).map(|two| two[1].physical.abs_diff(two[0].physical + two[0].bytes));
        let mut gaps = gaps.collect::<Vec<_>>();
        gaps.sort_unstable();
        assert_eq!(gaps[gaps.len() / 2], gap, "the middle gap");
        let content = std::fs::read(&path).unwrap();
        let first = &content[..content.len() / usize::try_from(pieces).unwrap()];
        assert!(content.chunks(first.len()).all(|piece| piece == first));
    }
}

#[test]
fn what_a_file_grows_by_is_zero() {
    let folder = tempfile::tempdir().unwrap();
    for way in [Way::Truncate, Way::Allocate, Way::ZeroRange, Way::Write] {
        let file = create(&folder.path().join("grown")).unwrap();
        match lengthen(&file, way) {
            Ok(()) => assert!(has_zeros(&file).unwrap(), "{way:?}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
        }
    }
}

#[test]
fn a_modelled_disk_pays_for_seeks_and_for_turns() {
    let extent = |physical| Extent { logical: 0, physical, bytes: 4096 };
    let one = Disk::USUAL.replay(&[Extent { bytes: 160 * 4096, ..extent(0) }]);
    // Half a turn, and 640 KiB at 180 MB/s.
    assert!((one.as_secs_f64() * 1e3 - (4.167 + 3.641)).abs() < 0.01, "{one:?}");
    let apart = |gap: u64| {
        let extents = (0..160).map(|number| extent(number * (4096 + gap))).collect::<Vec<_>>();
        Disk::USUAL.replay(&extents)
    };
    let (near, far) = (apart(4096), apart(4 << 20));
    assert!(near < far, "{near:?} {far:?}");
    // A seek and half a turn for each, 159 times.
    assert!(far.as_secs_f64() / one.as_secs_f64() > 50.0, "{far:?} {one:?}");
    let back = Disk::USUAL.replay(&[extent(1 << 30), extent(0)]);
    assert!(back > Disk::USUAL.replay(&[extent(0), extent(4096)]));
}

#[test]
fn file_systems_are_mounted_for_their_thread_alone_and_gone_with_it() {
    let folder = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let device = |line: &str| line.split(' ').next().unwrap().to_owned();
    let mounted_on = |mounts: &str| {
        let here = mounts.lines().filter(|line| line.contains(folder.path().to_str().unwrap()));
        here.map(device).collect::<Vec<_>>()
    };
    let attached = || {
        let devices = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
        let file = |device: std::fs::DirEntry| {
            std::fs::read_to_string(device.path().join("loop/backing_file"))
        };
        let files = devices.filter_map(|device| file(device).ok());
        files.filter(|file| file.contains(folder.path().to_str().unwrap())).count()
    };
    let made = std::thread::scope(|scope| {
        let measured = scope.spawn(|| {
            let mounts = OwnMounts::take();
            let (mut made, mut all) = (0, Vec::new());
            for kind in ALL {
                let bytes = match prepare(kind, folder.path(), &mounts) {
                    Ok(bytes) => Rc::new(bytes),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                        println!("{} is skipped: {error}", kind.name);
                        continue;
                    }
                };
                let instruments = SystemInstruments::new();
                rewrite(bytes.clone())(2, &mut Stopwatch::new(&instruments)).unwrap();
                overwrite(&bytes.open).unwrap();
                made += 1;
                assert_eq!(attached(), made, "{}", kind.name);
                all.push(bytes);
                let own = std::fs::read_to_string("/proc/thread-self/mounts").unwrap();
                assert_eq!(mounted_on(&own).len(), made - 1);
            }
            made
        });
        let all = std::fs::read_to_string("/proc/self/mounts").unwrap();
        assert_eq!(mounted_on(&all), Vec::<String>::new(), "nobody else sees them");
        measured.join().unwrap()
    });
    println!("{made} of {} were made", ALL.len());
    // The kernel detaches a device when it has closed what was open of it, which is soon.
    let began = gadus_base::clock().now();
    while attached() > 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "devices are still attached");
        std::thread::yield_now();
    }
}
