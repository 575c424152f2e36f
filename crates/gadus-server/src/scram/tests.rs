//! The exchange of the standard, and what is none.

use super::{Binding, Exchange, Verifier};
use base64::Engine as _;

/// Of the password `pencil`, with the salt of RFC 7677, section 3.
const STORED: &str = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==\
    $WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
const FIRST: &[u8] = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
const NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const LAST: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
    p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";

fn exchange() -> Exchange {
    let verifier = Verifier::read(STORED).expect("a verifier");
    Exchange::with_nonce(FIRST, verifier, Binding::None, NONCE).expect("a first message")
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
        let verifier = Verifier::made_up("ada", None).expect("made up");
        assert!(Exchange::begin(first, verifier, Binding::None).is_err(), "{first:?}");
    }
}

/// RFC 5802, section 6: what may be said of channel binding where it is not there, offered, and chosen.
#[test]
fn an_exchange_is_bound_as_both_sides_say() {
    let begins = |header: &str, binding| {
        let verifier = Verifier::made_up("ada", None).expect("made up");
        Exchange::begin(format!("{header}n=,r=a").as_bytes(), verifier, binding)
    };
    let digest = Binding::Chosen(b"digest");
    let bound = "p=tls-server-end-point,,";
    for (header, binding) in
        [("n,,", Binding::None), ("y,,", Binding::None), ("n,,", Binding::Offered), (bound, digest)]
    {
        assert!(begins(header, binding).is_ok(), "{header} {binding:?}");
    }
    for (header, binding) in [
        (bound, Binding::None),
        ("y,,", Binding::Offered),
        (bound, Binding::Offered),
        ("n,,", digest),
        ("y,,", digest),
        ("p=tls-unique,,", digest),
    ] {
        assert!(begins(header, binding).is_err(), "{header} {binding:?}");
    }
    let exchange = begins(bound, digest).expect("bound");
    let nonce = exchange.nonce.clone();
    let last = |text: &str| {
        let encoded = super::STANDARD.encode(text);
        format!("c={encoded},r={nonce},p={}", super::STANDARD.encode([0; 32]))
    };
    // A wrong password is told apart from what belongs to another certificate.
    let own = last("p=tls-server-end-point,,digest");
    assert_eq!(exchange.finish(own.as_bytes()).expect("well formed"), None);
    assert!(exchange.finish(last("p=tls-server-end-point,,others").as_bytes()).is_err());
}

#[test]
fn who_does_not_exist_has_the_same_salt_each_time() {
    let salt = |user, secret| Verifier::made_up(user, secret).expect("made up").salt;
    for secret in [None, Some("secret"), Some("")] {
        assert_eq!(salt("ada", secret), salt("ada", secret));
        assert_ne!(salt("ada", secret), salt("bob", secret));
    }
    assert_ne!(salt("ada", None), salt("ada", Some("secret")));
    assert_ne!(salt("ada", Some("other")), salt("ada", Some("secret")));
}
