//! Which numbers a sequence gives.

use super::*;

fn numbers(shape: SequenceShape, count: usize) -> Result<Vec<i64>> {
    let sequence = Sequence::new("s", shape)?;
    sequence.take(sequence.position, count).map(|(_, numbers)| numbers)
}

#[test]
fn numbers_go_up_and_down_and_around() {
    let up = SequenceShape::new(ColumnType::Int64, 1).unwrap();
    assert_eq!(numbers(up, 3).unwrap(), [1, 2, 3]);
    let down = SequenceShape::new(ColumnType::Int16, -2).unwrap();
    assert_eq!(numbers(down, 3).unwrap(), [-1, -3, -5]);
    let around = SequenceShape { start: 2, greatest: 3, cycles: true, ..up };
    assert_eq!(numbers(around, 4).unwrap(), [2, 3, 1, 2]);
    let far = SequenceShape { start: i64::MAX - 1, increment: 5, ..up };
    assert_eq!(numbers(far, 1).unwrap(), [i64::MAX - 1]);
    let error = numbers(far, 2).unwrap_err();
    assert_eq!(error.reason(), Some(Reason::SequenceEnd));
}

#[test]
fn what_gives_no_numbers_is_refused() {
    let shape = SequenceShape::new(ColumnType::Int16, 1).unwrap();
    let wrong = [
        SequenceShape { increment: 0, ..shape },
        SequenceShape { start: 0, ..shape },
        SequenceShape { greatest: 40_000, ..shape },
        SequenceShape { greatest: 1, ..shape },
        SequenceShape { column_type: ColumnType::Float64, ..shape },
    ];
    for shape in wrong {
        assert!(Sequence::new("s", shape).is_err(), "{shape:?}");
    }
}
