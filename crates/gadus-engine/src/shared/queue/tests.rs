//! When a pass that gathers begins.

use super::*;
use crate::shared::asked::Asked;
use crate::shared::question::Wanted;
use crate::types::{ColumnDefinition, ColumnType};
use gadus_base::clock;

const TOOK: Duration = Duration::from_millis(320);

/// After a pass that answered a thousand, while nobody waits.
fn gathering(began: Instant) -> Gathering {
    let [looked, last_came] = [began; 2];
    let (expected, answered, full, before, took) = (1_000, 1_000, 2_048, 0, TOOK);
    let returned = false;
    Gathering { expected, full, returned, answered, took, began, before, looked, last_came }
}

#[test]
fn who_stands_still_for_a_moment_is_waited_for_and_who_does_not_come_is_not() {
    let began = clock().now();
    let after = |milliseconds: u64| began.plus(Duration::from_millis(milliseconds));
    let mut gathering = gathering(began);
    assert!(!gathering.is_over(0, false, after(5)), "it does not look all the time");
    gathering.last_came = after(20);
    assert!(!gathering.is_over(200, false, after(20)), "they come fast");
    assert!(!gathering.is_over(200, false, after(60)), "nobody came for two looks");
    assert!(gathering.is_over(200, false, after(80)), "so many the last pass answered meanwhile");
    assert!(gathering.is_over(1_000, false, after(81)), "all are there");
}

#[test]
fn nobody_is_waited_for_where_statements_come_as_they_are_answered() {
    let began = clock().now();
    let after = |milliseconds: u64| began.plus(Duration::from_millis(milliseconds));
    assert!(!gathering(began).is_over(30, false, after(39)), "it is too early to say");
    assert!(gathering(began).is_over(30, false, after(40)));
    let mut writing = gathering(began);
    assert!(!writing.is_over(0, true, after(100)), "who waits for his modification asks on");
    assert!(writing.is_over(0, true, after(161)), "but not for ever");
}

#[test]
fn clients_that_came_back_last_time_have_twice_as_long() {
    let (table, began) = (schema(), clock().now());
    let after = |milliseconds: u64| began.plus(Duration::from_millis(milliseconds));
    let limits = ScanLimits::default();
    let mut queues = Queues::default();
    let end = |queues: &mut Queues, now| {
        let ended = Ended { answered: 1_000, before: 0, took: TOOK };
        queues.end(table.id, ended, limits.bounds(None), now);
    };
    let begins = |queues: &mut Queues, now| begins(queues, &limits, now);
    push(&mut queues, &table, 1_000, began);
    assert!(begins(&mut queues, began), "no client is known yet");
    end(&mut queues, began);
    push(&mut queues, &table, 100, began);
    assert!(!begins(&mut queues, after(39)));
    assert!(begins(&mut queues, after(50)), "strangers have an eighth of the pass");
    end(&mut queues, began);
    push(&mut queues, &table, 1_000, began);
    assert!(begins(&mut queues, began), "all are there");
    end(&mut queues, began);
    push(&mut queues, &table, 33, began);
    assert!(!begins(&mut queues, after(60)), "they came back before");
    push(&mut queues, &table, 150, after(79));
    assert!(!begins(&mut queues, after(100)), "half as fast as they were answered");
    assert!(begins(&mut queues, after(180)), "but not for ever");
}

#[test]
fn a_client_that_does_not_come_again_is_waited_for_only_while_others_come() {
    let began = clock().now();
    let after = |milliseconds: u64| began.plus(Duration::from_millis(milliseconds));
    let mut gathering = gathering(began);
    gathering.last_came = after(30);
    assert!(!gathering.is_over(999, false, after(100)), "it may come yet");
    assert!(gathering.is_over(999, false, after(111)), "a pass would take four times as long");
}

#[test]
fn statements_that_come_while_answers_are_given_are_those_that_are_gathered() {
    let (table, now) = (schema(), clock().now());
    let limits = ScanLimits::default();
    let mut queues = Queues::default();
    let answered = 100;
    push(&mut queues, &table, answered, now);
    assert!(begins(&mut queues, &limits, now));
    let before = 3;
    push(&mut queues, &table, before, now);
    push(&mut queues, &table, 40, now);
    let bounds = limits.bounds(None);
    queues.end(table.id, Ended { answered, before, took: TOOK }, bounds, now);
    assert!(!begins(&mut queues, &limits, now), "60 have not come again");
    assert_eq!(push(&mut queues, &table, 60, now), 1, "the last one has the queue looked at");
    assert!(begins(&mut queues, &limits, now), "all have");
}

#[test]
fn a_pass_that_is_full_of_questions_begins() {
    let (table, now) = (schema(), clock().now());
    let limits = ScanLimits::default();
    limits.set_batch_queries(50);
    let mut queues = Queues::default();
    push(&mut queues, &table, 100, now);
    assert!(begins(&mut queues, &limits, now));
    let ended = Ended { answered: 50, before: 50, took: TOOK };
    queues.end(table.id, ended, limits.bounds(None), now);
    assert!(begins(&mut queues, &limits, now), "50 more would not make it longer");
}

fn schema() -> Arc<TableSchema> {
    let columns = vec![ColumnDefinition::new("a", ColumnType::Int64)];
    Arc::new(TableSchema { id: TableId(1), ..TableSchema::new("t", columns, vec![]).unwrap() })
}

/// Returns how many of them have the queue looked at.
fn push(queues: &mut Queues, schema: &Arc<TableSchema>, count: usize, now: Instant) -> usize {
    let mut one = || {
        let wanted = Wanted::Rows { rows_max: 1 };
        let question = Question { predicates: vec![], wanted };
        let (_, ticket) = Asked::new();
        let waiting = WaitingQuestion { schema: schema.clone(), question, ticket };
        queues.push_question(waiting, now).unwrap()
    };
    (0..count).filter(|_| one()).count()
}

fn begins(queues: &mut Queues, limits: &ScanLimits, now: Instant) -> bool {
    queues.begin(limits, &Paces::default(), false, now).is_some()
}
