//! Types that are no arrays.

use std::borrow::Cow;

/// Category of types, as `pg_type.typcategory` has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Arrays
    Array,
    /// Truth values
    Boolean,
    /// Rows
    Composite,
    /// Points in time
    DateTime,
    /// Enumerations
    Enum,
    /// Numbers, and object identifiers
    Numeric,
    /// Types of signatures alone
    Pseudo,
    /// Texts
    String,
    /// Intervals
    Timespan,
    /// All others
    User,
    /// Bit strings
    BitString,
    /// Literals of undecided type
    Unknown,
    /// The single-byte type
    Internal,
}

macro_rules! base_types {
    ($($variant:ident $oid:literal $array:literal $name:literal $sql:literal $category:ident $preferred:literal;)*) => {
        /// A type that is no array.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // each is the type of its name in PostgreSQL's or DuckDB's manual
        pub enum BaseType {
            $($variant,)*
            /// Enumeration, by its name in the database's catalog.
            Enum(&'static str),
            /// Row of a table or a composite type, by its number in the database's catalog.
            Composite(u32),
        }

        impl BaseType {
            /// All types that are not the database's own.
            pub const BUILT_IN: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name in PostgreSQL's catalog.
            #[must_use]
            pub fn name(self) -> Cow<'static, str> {
                match self {
                    $(Self::$variant => $name.into(),)*
                    Self::Enum(name) => name.into(),
                    Self::Composite(id) => format!("row_{id}").into(),
                }
            }

            /// Returns the name in SQL.
            #[must_use]
            pub fn sql_name(self) -> Cow<'static, str> {
                match self {
                    $(Self::$variant => $sql.into(),)*
                    Self::Enum(_) | Self::Composite(_) => self.name(),
                }
            }

            /// Returns PostgreSQL's object identifiers of the type and of its array; zero if there is none.
            #[must_use]
            pub(crate) fn oids(self) -> (u32, u32) {
                match self {
                    $(Self::$variant => ($oid, $array),)*
                    Self::Enum(_) | Self::Composite(_) => (0, 0),
                }
            }

            /// Returns the category.
            #[must_use]
            pub fn category(self) -> Category {
                match self {
                    $(Self::$variant => Category::$category,)*
                    Self::Enum(_) => Category::Enum,
                    Self::Composite(_) => Category::Composite,
                }
            }

            /// Returns true for the type that is preferred in its category.
            #[must_use]
            pub fn is_preferred(self) -> bool {
                match self {
                    $(Self::$variant => $preferred,)*
                    Self::Enum(_) | Self::Composite(_) => false,
                }
            }
        }
    };
}

base_types! {
    Bool 16 1000 "bool" "boolean" Boolean true;
    Bytea 17 1001 "bytea" "bytea" User false;
    Char 18 1002 "char" "\"char\"" Internal false;
    Name 19 1003 "name" "name" String false;
    Int8 20 1016 "int8" "bigint" Numeric false;
    Int2 21 1005 "int2" "smallint" Numeric false;
    Int4 23 1007 "int4" "integer" Numeric false;
    Text 25 1009 "text" "text" String true;
    Oid 26 1028 "oid" "oid" Numeric true;
    Json 114 199 "json" "json" User false;
    Float4 700 1021 "float4" "real" Numeric false;
    Float8 701 1022 "float8" "double precision" Numeric true;
    Bpchar 1042 1014 "bpchar" "character" String false;
    Varchar 1043 1015 "varchar" "character varying" String false;
    Date 1082 1182 "date" "date" DateTime false;
    Time 1083 1183 "time" "time without time zone" DateTime false;
    Timestamp 1114 1115 "timestamp" "timestamp without time zone" DateTime false;
    Timestamptz 1184 1185 "timestamptz" "timestamp with time zone" DateTime true;
    Interval 1186 1187 "interval" "interval" Timespan true;
    Timetz 1266 1270 "timetz" "time with time zone" DateTime false;
    Bit 1560 1561 "bit" "bit" BitString false;
    Varbit 1562 1563 "varbit" "bit varying" BitString true;
    Numeric 1700 1231 "numeric" "numeric" Numeric false;
    Regproc 24 1008 "regproc" "regproc" Numeric false;
    Regclass 2205 2210 "regclass" "regclass" Numeric false;
    Regtype 2206 2211 "regtype" "regtype" Numeric false;
    Uuid 2950 2951 "uuid" "uuid" User false;
    Jsonb 3802 3807 "jsonb" "jsonb" User false;
    Jsonpath 4072 4073 "jsonpath" "jsonpath" User false;
    Record 2249 2287 "record" "record" Pseudo false;
    Void 2278 0 "void" "void" Pseudo false;
    Unknown 705 0 "unknown" "unknown" Unknown false;
    Any 2276 0 "any" "\"any\"" Pseudo false;
    AnyArray 2277 0 "anyarray" "anyarray" Pseudo false;
    AnyElement 2283 0 "anyelement" "anyelement" Pseudo false;
    AnyNonArray 2776 0 "anynonarray" "anynonarray" Pseudo false;
    AnyEnum 3500 0 "anyenum" "anyenum" Pseudo false;
    AnyCompatible 5077 0 "anycompatible" "anycompatible" Pseudo false;
    AnyCompatibleArray 5078 0 "anycompatiblearray" "anycompatiblearray" Pseudo false;
    AnyCompatibleNonArray 5079 0 "anycompatiblenonarray" "anycompatiblenonarray" Pseudo false;
}

impl BaseType {
    /// Returns true for types that stand for others in signatures.
    #[must_use]
    pub fn is_polymorphic(self) -> bool {
        matches!(
            self,
            Self::AnyArray
                | Self::AnyElement
                | Self::AnyNonArray
                | Self::AnyEnum
                | Self::AnyCompatible
                | Self::AnyCompatibleArray
                | Self::AnyCompatibleNonArray
        )
    }

    /// Returns true for types that no column has.
    #[must_use]
    pub fn is_pseudo(self) -> bool {
        self.category() == Category::Pseudo || self == Self::Unknown
    }
}
