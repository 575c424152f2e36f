//! All that is counted, as one page.

use super::process::Process;
use super::text::Text;
use super::{CLASSES, Counter, Metrics, SUCCESS, TIMES};
use crate::server::Shared;
use gadus::Statistics;

pub(crate) use super::text::CONTENT_TYPE;

/// What is known now. It looks into files of the system: not for a thread that must not wait.
pub(crate) fn page(shared: &Shared) -> String {
    let mut text = Text::default();
    text.family("gadus_build_info", "gauge", "The program that serves; always 1.");
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    text.sample("gadus_build_info", &version, 1);
    let open = "Connections that are open, those that are not yet let in included.";
    text.gauge("gadus_connections", open, shared.registry.connections());
    let max = "Connections that may be open at once.";
    text.gauge("gadus_connections_max", max, shared.options.limits.connections);
    put_counts(&mut text, &shared.metrics);
    // While it is being opened anew, there is nothing to tell of it.
    if let Ok(lease) = shared.served.lease() {
        put_database(&mut text, &lease.database.statistics());
    }
    if let Some(process) = Process::read() {
        put_process(&mut text, &process);
    }
    text.finish()
}

/// What the server itself has counted.
pub(super) fn put_counts(text: &mut Text, metrics: &Metrics) {
    let counters: [(&str, &str, &Counter); 9] = [
        ("connections", "Connections that were accepted.", &metrics.connections),
        ("connections_refused", "Connections that wanted in and were refused.", &metrics.refused),
        (
            "authentication_failures",
            "Connections that were refused because of who they said they were.",
            &metrics.authentication_failures,
        ),
        ("cancels", "Requests to cancel that named a connection's secret.", &metrics.cancels),
        ("rows_sent", "Rows that queries have sent.", &metrics.rows_sent),
        ("copy_rows_sent", "Rows that COPY TO STDOUT has sent.", &metrics.copy_rows_sent),
        (
            "copy_rows_received",
            "Rows that COPY FROM STDIN has received.",
            &metrics.copy_rows_received,
        ),
        ("received_bytes", "Bytes from clients, as they travel.", &metrics.bytes_received),
        ("sent_bytes", "Bytes to clients, as they travel.", &metrics.bytes_sent),
    ];
    for (name, help, counter) in counters {
        text.counter(&format!("gadus_{name}_total"), help, counter.get());
    }
    let name = "gadus_transactions_total";
    let help = "Transactions by their end; a statement outside of one is one by itself.";
    text.family(name, "counter", help);
    text.sample(name, "outcome=\"committed\"", metrics.commits.get());
    text.sample(name, "outcome=\"rolled_back\"", metrics.rollbacks.get());
    put_statements(text, metrics);
}

fn put_statements(text: &mut Text, metrics: &Metrics) {
    let name = "gadus_statements_total";
    text.family(name, "counter", "Statements by their outcome, and by the class of its SQLSTATE.");
    for (class, counter) in CLASSES.iter().zip(&metrics.statements) {
        let outcome = if *class == SUCCESS { "ok" } else { "error" };
        let labels = format!("outcome=\"{outcome}\",class=\"{class}\"");
        text.sample(name, &labels, counter.get());
    }
    let name = "gadus_statement_seconds";
    text.family(name, "histogram", "From a statement's text to the last of its rows.");
    let ends = TIMES.iter().map(|(_, end)| *end).chain(["+Inf"]);
    let mut count = 0;
    for (end, counter) in ends.zip(&metrics.times) {
        count += counter.get();
        text.sample("gadus_statement_seconds_bucket", &format!("le=\"{end}\""), count);
    }
    text.sample("gadus_statement_seconds_sum", "", seconds(metrics.time_ns.get()));
    text.sample("gadus_statement_seconds_count", "", count);
}

/// What the database knows of itself, as this process has it open.
fn put_database(text: &mut Text, known: &Statistics) {
    let (store, clock) = (&known.store, &known.clock);
    let gauges = [
        ("cache_bytes", "Bytes of the file that are kept in memory.", known.cached.0),
        ("data_file_bytes", "Size of the data file, up to what is in use.", store.data_file_bytes),
        ("data_file_free_bytes", "Bytes of the data file that may be used.", store.free_bytes),
        ("log_file_bytes", "Size of the log.", store.log_file_bytes),
        ("log_replay_bytes", "Bytes of the log that opening would read now.", store.log_bytes),
        ("commit_number", "The newest commit that is seen.", known.commit.0),
        (
            "maintenance_failed",
            "1 where background work has failed, and not succeeded since.",
            u64::from(known.maintenance_error.is_some()),
        ),
    ];
    for (name, help, value) in gauges {
        text.gauge(&format!("gadus_{name}"), help, value);
    }
    let counters = [
        ("commits", "Commits that this process has written.", store.commits),
        ("log_syncs", "Syncs of the log for commits.", store.log_syncs),
        ("data_syncs", "Syncs of the data file.", store.data_syncs),
        ("checkpoints", "Checkpoints that this process has written.", store.checkpoints),
        (
            "caught_up_commits",
            "Commits of other processes that were applied.",
            known.caught_up_commits,
        ),
        ("lock_waits", "Requests for locks that had to wait, of all processes.", known.locks.waits),
        ("deadlocks", "Deadlocks that were undone, of all processes.", known.locks.deadlocks),
        ("clock_passes", "Shared scans that are over.", clock.passes),
        ("clock_questions", "Queries that shared scans have answered.", clock.questions),
        (
            "clock_modifications",
            "Modifications whose rows shared scans have found.",
            clock.modifications,
        ),
        ("clock_rows", "Rows that shared scans have read.", clock.work.rows),
    ];
    for (name, help, value) in counters {
        text.counter(&format!("gadus_{name}_total"), help, value);
    }
    let help = "Time of shared scans, from beginning to answers.";
    text.counter("gadus_clock_pass_seconds_total", help, clock.pass_time.as_secs_f64());
}

fn put_process(text: &mut Text, process: &Process) {
    let help = "Memory of the process that is in use.";
    text.gauge("gadus_process_resident_bytes", help, process.resident_bytes);
    text.gauge("gadus_process_open_files", "Files and sockets that are open.", process.open_files);
    let help = "Time of processors that the process has had.";
    text.counter("gadus_process_cpu_seconds_total", help, process.cpu_seconds);
    let help = "When the process began, in seconds since 1970, UTC.";
    text.gauge("gadus_process_start_time_seconds", help, process.start_seconds);
}

#[allow(clippy::cast_precision_loss)] // a sum of times for people to divide
fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
