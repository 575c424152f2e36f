//! Rates are read as they are written, and arrivals come at them.

use super::*;

#[test]
fn a_rate_is_a_number_or_a_percentage() {
    assert_eq!("9000".parse(), Ok(Offered::PerSecond(9000.0)));
    assert_eq!("70%".parse(), Ok(Offered::Share(0.7)));
    assert_eq!("12.5 %".parse(), Ok(Offered::Share(0.125)));
    for wrong in ["", "%", "0", "0%", "-1", "inf", "NaN%", "1001%", "seventy"] {
        assert!(wrong.parse::<Offered>().is_err(), "{wrong}");
    }
    assert_eq!(Offered::Share(0.7).to_string(), "70 %");
    assert_eq!(Offered::PerSecond(9000.0).to_string(), "9000 a second");
}

#[test]
fn a_percentage_is_of_the_highest_rate() {
    assert!((Offered::Share(0.5).rate(300.0) - 150.0).abs() < 1e-9);
    assert!((Offered::PerSecond(70.0).rate(300.0) - 70.0).abs() < 1e-9);
}

#[test]
fn gaps_are_exponential_and_come_again_with_their_seed() {
    let times = Arrivals::new(1000.0, 7).take(100_000).collect::<Vec<_>>();
    let mean = times[99_999].as_secs_f64() / 100_000.0;
    assert!((mean * 1000.0 - 1.0).abs() < 0.02, "{mean}");
    // Of an exponential law's gaps e^-1 are longer than the mean.
    let longer = times.windows(2).filter(|pair| (pair[1] - pair[0]).as_secs_f64() > 1e-3);
    let share = longer.count() as f64 / 100_000.0;
    assert!((share - (-1.0_f64).exp()).abs() < 0.01, "{share}");
    assert!(Arrivals::new(1000.0, 7).take(10).eq(times[..10].iter().copied()));
}

#[test]
fn a_rate_is_held_when_answers_keep_up_with_arrivals() {
    let time = Duration::from_secs(1);
    let turn = |answered_meanwhile, late_ms, overflowed| Turn {
        arrived: 1000,
        answered_meanwhile,
        late: Duration::from_millis(late_ms),
        overflowed,
        ..Turn::default()
    };
    assert!(turn(1000, 0, false).held(1.0, time));
    assert!(turn(860, 0, false).held(100.0, time));
    assert!(!turn(800, 0, false).held(100.0, time));
    assert!(!turn(1000, 200, false).held(1.0, time));
    assert!(!turn(1000, 0, true).held(1.0, time));
}
