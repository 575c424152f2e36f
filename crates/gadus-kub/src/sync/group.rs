//! Several records made durable by one sync.

use super::methods::{Room, file_with};
use crate::bind::files::on_a_device;
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Stopwatch};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use gadus_block::AlignedBuffer;
use rustix::fs::{OFlags, fdatasync};
use rustix::io::pwrite;
use std::path::PathBuf;

const RECORD_BYTES: usize = 512;

/// Records that the file holds.
const RECORDS: u64 = 1024;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let groups: &[u64] = match budget {
        Budget::Quick => &[1, 64],
        Budget::Usual => &[1, 8, 64],
        Budget::Thorough => &[1, 2, 4, 8, 16, 32, 64],
    };
    let groups = groups.to_vec();
    let name = "records made durable together";
    vec![Task::new(Benchmark::Sync, name, move |harness, place| measure(harness, place, &groups))]
}

fn measure(harness: &mut Harness<'_>, place: &Place, groups: &[u64]) -> Result<(), KubError> {
    on_a_device(&place.folder)?;
    let mut contest =
        Contest::new(Benchmark::Sync, Origin::Modern, "a record of a group made durable")
            .with("bytes", RECORD_BYTES);
    for group in groups.iter().copied() {
        let path = place.folder.join(format!("group-{group}"));
        let who = format!("{group} with one fdatasync");
        contest = contest.kernel(who, records(path, group));
    }
    harness.measure(contest)
}

/// A time is a record: so one of a group has a part of what the sync takes.
fn records(
    path: PathBuf,
    group: u64,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let record = AlignedBuffer::zeroed(RECORD_BYTES, 4096);
    let bytes = RECORDS * RECORD_BYTES as u64;
    let (mut file, mut written) = (None, 0_u64);
    move |times, watch| {
        let file = match &mut file {
            Some(file) => file,
            none => {
                let make = || file_with(&path, OFlags::empty(), bytes, Room::Overwritten);
                none.insert(watch.untimed(make)?)
            }
        };
        for _ in 0..times {
            let offset = written % RECORDS * RECORD_BYTES as u64;
            if pwrite(&*file, &record, offset).or_refused("a record")? != RECORD_BYTES {
                return Err(KubError::broken("half a record was written"));
            }
            written += 1;
            if written.is_multiple_of(group) {
                fdatasync(&*file).or_refused("fdatasync")?;
            }
        }
        Ok(())
    }
}
