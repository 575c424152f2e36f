//! As one JSON object: units stand at the ends of names.

use super::operator::{Operator, ScanTold};
use super::{Explained, Run};
use serde_json::{Map, Value, json};
use std::time::Duration;

pub(super) fn render(explained: &Explained) -> String {
    let ran = explained.run.is_some();
    let mut whole = Map::from_iter([("plan".to_owned(), of_operator(&explained.operator, ran))]);
    if let Some(run) = &explained.run {
        let Run { planned, planned_again, ran, rows, memory_bytes, bytes, cache } = run;
        for (name, value) in [
            ("planning_ms", json!(milliseconds(*planned))),
            ("execution_ms", json!(milliseconds(*ran))),
            ("rows", json!(rows)),
            ("memory_bytes", json!(memory_bytes)),
            ("spilled_bytes", json!(explained.spilled_bytes())),
            ("read_bytes", json!(bytes.read)),
            ("written_bytes", json!(bytes.written)),
            ("cache_hits", json!(cache.hits)),
            ("cache_reads", json!(cache.reads)),
        ] {
            whole.insert(name.to_owned(), value);
        }
        if let Some(reason) = planned_again {
            whole.insert("planned_again".to_owned(), json!(reason));
        }
    }
    serde_json::to_string_pretty(&whole).unwrap_or_default()
}

fn of_operator(operator: &Operator, ran: bool) -> Value {
    let mut object = Map::new();
    let mut put = |name: &str, value| _ = object.insert(name.to_owned(), value);
    put("operator", json!(operator.name));
    if !operator.details.is_empty() {
        put("details", json!(operator.details.replace('\n', "; ")));
    }
    if ran {
        let figures = &operator.figures;
        put("rows", json!(figures.rows));
        put("time_ms", json!(milliseconds(figures.time)));
        put("memory_bytes", json!(figures.memory_bytes));
        put("spilled_bytes", json!(figures.spilled_bytes));
    }
    if let Some(ScanTold { segments, pruned, ran }) = operator.scan {
        put("segments", json!(segments));
        put("segments_pruned", json!(pruned));
        if let Some(ran) = ran {
            put("segments_read", json!(ran.segments));
            put("shared_scan", json!(ran.shared));
            put("cache_hits", json!(ran.cache.hits));
            put("cache_reads", json!(ran.cache.reads));
            put("read_bytes", json!(ran.read_bytes));
        }
    }
    let inputs = operator.inputs.iter().map(|input| of_operator(input, ran)).collect::<Vec<_>>();
    if !inputs.is_empty() {
        put("inputs", Value::Array(inputs));
    }
    Value::Object(object)
}

/// To a microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
