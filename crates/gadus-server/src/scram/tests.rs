//! The exchange of the standard, and what is none.

use super::{Exchange, Verifier};

/// Of the password `pencil`, with the salt of RFC 7677, section 3.
const STORED: &str = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==\
    $WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
const FIRST: &[u8] = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
const NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const LAST: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
    p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";

fn exchange() -> Exchange {
    let verifier = Verifier::read(STORED).expect("a verifier");
    Exchange::with_nonce(FIRST, verifier, NONCE).expect("a first message")
}

/// The exchange of RFC 7677, section 3.
#[test]
fn the_exchange_of_the_standard_is_let_in() {
    let exchange = exchange();
    let challenge = format!("r=rOprNGfwEbeRWgbNEkqO{NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    assert_eq!(exchange.challenge(), challenge);
    let answer = exchange.finish(LAST.as_bytes()).expect("well formed");
    let expected = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
    assert_eq!(answer.as_deref(), Some(expected));
}

#[test]
fn everything_else_is_not() {
    let wrong = LAST.replace("p=dHz", "p=aHz");
    assert_eq!(exchange().finish(wrong.as_bytes()).expect("well formed"), None);
    for last in [
        "",
        "c=biws",
        "c=eSws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzb",
        "c=biws,r=rOprNGfwEbeRWgbNEkqO,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    ] {
        assert!(exchange().finish(last.as_bytes()).is_err(), "{last}");
    }
    for first in [&b""[..], b"p=tls-unique,,n=,r=a", b"n,,r=a", b"n,,n=,r=", b"n,,n=,r=a,x=b"] {
        let verifier = Verifier::made_up("ada").expect("made up");
        assert!(Exchange::begin(first, verifier).is_err(), "{first:?}");
    }
}

#[test]
fn who_does_not_exist_has_the_same_salt_each_time() {
    let salt = |user| Verifier::made_up(user).expect("made up").salt;
    assert_eq!(salt("ada"), salt("ada"));
    assert_ne!(salt("ada"), salt("bob"));
}
