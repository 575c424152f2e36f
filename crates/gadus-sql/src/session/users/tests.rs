//! Verifiers, and what is none.

use super::{is_verifier, verifier_of};

/// The exchange of RFC 7677, section 3: the keys of `pencil` with its salt.
#[test]
fn verifiers_are_those_of_the_standard() {
    let salt = base64::Engine::decode(&super::STANDARD, "W22ZaJ0SNY7soEsUEjb6gQ==");
    let verifier = verifier_of("pencil", &salt.expect("base64"), 4_096);
    assert_eq!(
        verifier,
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    );
    assert!(is_verifier(&verifier));
}

#[test]
fn other_texts_are_passwords() {
    for text in ["pencil", "SCRAM-SHA-256$", "SCRAM-SHA-256$0:YQ==$YQ==:YQ=="] {
        assert!(!is_verifier(text), "{text}");
    }
}
