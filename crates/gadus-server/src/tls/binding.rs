//! The digest of a certificate that an exchange of passwords is bound to: `tls-server-end-point` of
//! RFC 5929, section 4.1.

use ring::digest::{Algorithm, Digest, SHA256, SHA384, SHA512, digest};

/// Signatures by their object identifiers' bytes, with the digest that each of them uses; MD5 and SHA-1
/// are replaced by SHA-256, as the standard says.
const SIGNATURES: [(&[u8], &Algorithm); 9] = [
    // md5, sha1, sha256, sha384 and sha512WithRSAEncryption
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x04", &SHA256),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05", &SHA256),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b", &SHA256),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c", &SHA384),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d", &SHA512),
    // ecdsa-with-SHA1, SHA256, SHA384 and SHA512
    (b"\x2a\x86\x48\xce\x3d\x04\x01", &SHA256),
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x02", &SHA256),
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x03", &SHA384),
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x04", &SHA512),
];

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// The digest to bind to; none where the standard defines none, as for Ed25519.
pub(super) fn of(certificate: &[u8]) -> Option<Digest> {
    let signature = signature(certificate)?;
    let (_, algorithm) = SIGNATURES.iter().find(|(known, _)| *known == signature)?;
    Some(digest(algorithm, certificate))
}

/// SHA-256 as openssl writes it, `AB:CD:…`.
pub(super) fn fingerprint(certificate: &[u8]) -> String {
    let bytes = digest(&SHA256, certificate);
    let shown = bytes.as_ref().iter().map(|byte| format!("{byte:02X}"));
    shown.collect::<Vec<_>>().join(":")
}

/// The object identifier of a certificate's signature. RFC 5280, section 4.1: a certificate is a sequence
/// of what is signed, the algorithm, and the signature.
fn signature(certificate: &[u8]) -> Option<&[u8]> {
    let (content, _) = element(SEQUENCE, certificate)?;
    let (_, after_signed) = element(SEQUENCE, content)?;
    let (algorithm, _) = element(SEQUENCE, after_signed)?;
    element(OBJECT_IDENTIFIER, algorithm).map(|(identifier, _)| identifier)
}

/// The content of a DER element with a tag, and what comes behind it.
fn element(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = bytes.split_first()?;
    let (&length, rest) = rest.split_first()?;
    if found != tag {
        return None;
    }
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        // So many bytes of length follow.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::{element, of};
    use ring::digest::SHA256;

    #[test]
    fn a_certificate_is_digested_by_its_signature() {
        let key = rcgen::KeyPair::generate().expect("a key");
        let made = rcgen::CertificateParams::new(vec!["localhost".to_owned()])
            .and_then(|params| params.self_signed(&key))
            .expect("a certificate");
        let digest = of(made.der()).expect("ECDSA with SHA-256");
        assert_eq!(digest.as_ref(), ring::digest::digest(&SHA256, made.der()).as_ref());
        for end in 0..40 {
            assert!(of(&made.der()[..end]).is_none(), "{end}");
        }
    }

    #[test]
    fn lengths_have_two_forms() {
        assert_eq!(element(0x30, b"\x30\x02abc"), Some((&b"ab"[..], &b"c"[..])));
        assert_eq!(element(0x30, b"\x30\x81\x02abc"), Some((&b"ab"[..], &b"c"[..])));
        for bytes in
            [&b"\x30"[..], b"\x30\x03ab", b"\x30\x80ab", b"\x30\x85\0\0\0\0\x02ab", b"\x31\0"]
        {
            assert_eq!(element(0x30, bytes), None, "{bytes:?}");
        }
    }
}
