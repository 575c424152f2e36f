//! Windows that spill, beside DataFusion's own operators.

use super::WindowsWithinMemory;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use arrow::util::pretty::pretty_format_batches;
use datafusion::datasource::MemTable;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use gadus_base::Random;
use std::sync::Arc;

fn below(random: &mut Random, bound: u64) -> usize {
    usize::try_from(random.below(bound)).unwrap()
}

/// Batches of different sizes, with NULLs and texts that are not in their views.
fn table(random: &mut Random) -> MemTable {
    let mut id = 0;
    let mut batch = || {
        let rows = below(random, 40);
        let mut number = |below| {
            (0..rows).map(|_| random.chance(0.9).then(|| random.below(below) as i64)).collect()
        };
        let (k, x): (Int64Array, Int64Array) = (number(4), number(30));
        let texts = x.iter().map(|x| x.map(|x| format!("a text that is number {x}")));
        let texts = texts.collect::<StringViewArray>();
        let ids = (0..rows).map(|_| {
            id += 1;
            id
        });
        let ids = ids.collect::<Int64Array>();
        let columns: [(&str, ArrayRef); 4] =
            [("id", Arc::new(ids)), ("k", Arc::new(k)), ("x", Arc::new(x)), ("t", Arc::new(texts))];
        let columns = columns.map(|(name, values)| (name, values, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    };
    let batches = (0..5).map(|_| batch()).collect::<Vec<_>>();
    MemTable::try_new(batches[0].schema(), vec![batches]).unwrap()
}

fn one<'a>(random: &mut Random, texts: &[&'a str]) -> &'a str {
    texts[below(random, texts.len() as u64)]
}

/// Draws a window whose rows have one order.
fn window(random: &mut Random) -> String {
    let partition = one(random, &["", "PARTITION BY k", "PARTITION BY k, x", "PARTITION BY t"]);
    let order = one(random, &["id", "x DESC, id", "t, id"]);
    let function = one(
        random,
        &["lag(t, 3)", "lead(t, 2, 'none')", "lead(id)", "row_number()", "rank()", "lag(x, 5, -1)"],
    );
    let framed = one(
        random,
        &[
            "sum(x)",
            "max(t)",
            "min(id)",
            "first_value(t)",
            "last_value(t)",
            "nth_value(t, 2)",
            "count(t)",
        ],
    );
    let start = one(random, &["UNBOUNDED PRECEDING", "5 PRECEDING", "1 PRECEDING", "CURRENT ROW"]);
    let end = one(random, &["CURRENT ROW", "1 FOLLOWING", "4 FOLLOWING"]);
    let (units, keys) = match random.below(3) {
        0 => ("ROWS", order),
        1 => ("RANGE", "id"),
        _ => ("GROUPS", "id"),
    };
    match random.chance(0.4) {
        true => format!("{function} OVER ({partition} ORDER BY {order})"),
        false => {
            format!("{framed} OVER ({partition} ORDER BY {keys} {units} BETWEEN {start} AND {end})")
        }
    }
}

#[tokio::test]
async fn random_windows_answer_as_datafusion_does() {
    let mut random = Random::seeded(11);
    let mut replaced = 0;
    for _ in 0..150 {
        let batch_rows = 1 + below(&mut random, 20);
        let config = SessionConfig::new().with_target_partitions(1).with_batch_size(batch_rows);
        let context = SessionContext::new_with_config(config);
        context.register_table("r", Arc::new(table(&mut random))).unwrap();
        let windows = (0..1 + random.below(3)).map(|_| window(&mut random)).collect::<Vec<_>>();
        let text = format!("SELECT id, t, {} FROM r ORDER BY id", windows.join(", "));
        let plan = context.sql(&text).await.unwrap().create_physical_plan().await.unwrap();
        let config = context.copied_config();
        let own = WindowsWithinMemory.optimize(plan.clone(), config.options()).unwrap();
        replaced += u32::from(is_bounded(&*own));
        let answer = async |plan| {
            let batches = collect(plan, context.task_ctx()).await.unwrap();
            pretty_format_batches(&batches).unwrap().to_string()
        };
        let (expected, found) = (answer(plan).await, answer(own).await);
        assert_eq!(found, expected, "{text}");
    }
    assert!(replaced > 100, "few windows are evaluated by frames: {replaced}");
}

fn is_bounded(plan: &dyn ExecutionPlan) -> bool {
    let is_own = plan.is::<super::SpillingWindowExec>() && plan.name() == "BoundedWindowAggExec";
    is_own || plan.children().into_iter().any(|child| is_bounded(&**child))
}
