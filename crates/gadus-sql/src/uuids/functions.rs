//! Functions that make identifiers, and that casts become.

use super::{BYTES, converted, uuids};
use crate::error::to_datafusion;
use crate::one_value::of_one_value;
use arrow::array::{ArrayRef, AsArray, FixedSizeBinaryArray};
use arrow::buffer::Buffer;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use gadus_base::clock;
use gadus_engine::UUID;
use ring::rand::{SecureRandom, SystemRandom};
use std::sync::Arc;

/// A function of one value that a cast becomes.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Converted {
    name: &'static str,
    to: DataType,
    /// Whether what cannot be converted is NULL.
    or_null: bool,
    signature: Signature,
}

/// The identifier that a text is, or the list of those that texts of a list are.
pub(super) fn as_uuid(to: DataType, or_null: bool) -> ScalarUDF {
    conversion(if or_null { "try_as_uuid" } else { "as_uuid" }, to, or_null)
}

/// The text of an identifier, or what has identifiers within, with their texts, which is of such a type.
pub(super) fn as_text(to: DataType) -> ScalarUDF {
    conversion("as_text", to, false)
}

fn conversion(name: &'static str, to: DataType, or_null: bool) -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    Converted { name, to, or_null, signature }.into()
}

impl ScalarUDFImpl for Converted {
    fn name(&self) -> &'static str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let convert = |array: &ArrayRef| match self.or_null {
            true if array.as_list_opt::<i32>().is_none() => {
                uuids(array, true).map_err(to_datafusion)
            }
            _ => match converted(array, &self.to).map_err(to_datafusion)? {
                Some(array) => Ok(array),
                None => internal_err!("{} of {}", self.name, array.data_type()),
            },
        };
        of_one_value(&args, convert)
    }
}

/// The functions that make identifiers, for all sessions. DataFusion's own gives texts.
pub(crate) fn uuid_functions() -> [Arc<ScalarUDF>; 2] {
    let signature = Signature::nullary(Volatility::Volatile);
    let made = |version, name, aliases: &[&str]| {
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        Arc::new(ScalarUDF::from(Made { version, name, aliases, signature: signature.clone() }))
    };
    [
        made(Version::Random, "uuid", &["gen_random_uuid", "uuidv4", "uuid_generate_v4"]),
        made(Version::InOrder, "uuidv7", &[]),
    ]
}

/// What an identifier is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Version {
    /// Version 4: 122 random bits.
    Random,
    /// Version 7: milliseconds since 1970, and 74 random bits behind them.
    InOrder,
}

/// A function that makes another identifier for each row.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Made {
    version: Version,
    name: &'static str,
    aliases: Vec<String>,
    signature: Signature,
}

impl ScalarUDFImpl for Made {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(UUID)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut bytes = vec![0; args.number_rows * BYTES.unsigned_abs() as usize];
        if SystemRandom::new().fill(&mut bytes).is_err() {
            return exec_err!("the system gives no random bytes");
        }
        let milliseconds = clock().wall_time().0.as_millis().to_be_bytes();
        for uuid in bytes.as_chunks_mut::<16>().0 {
            let version = match self.version {
                Version::Random => 4,
                Version::InOrder => {
                    // The last 48 bits.
                    uuid[..6].copy_from_slice(&milliseconds[10..]);
                    7
                }
            };
            // RFC 9562, sections 4.1 and 4.2: variant and version.
            uuid[6] = (uuid[6] & 0x0f) | (version << 4);
            uuid[8] = (uuid[8] & 0x3f) | 0x80;
        }
        let uuids = FixedSizeBinaryArray::try_new(BYTES, Buffer::from_vec(bytes), None)?;
        Ok(ColumnarValue::Array(Arc::new(uuids)))
    }
}
