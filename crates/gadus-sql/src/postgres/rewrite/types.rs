//! What casts and collations of the catalog's own mean to the planner.

use datafusion::sql::sqlparser::ast::{ArrayElemTypeDef, DataType, Expr, ObjectName};

/// Whether a collation is how text is compared here.
pub(super) fn is_by_bytes(collation: &ObjectName) -> bool {
    let name = collation.0.last().and_then(|part| part.as_ident());
    name.is_some_and(|name| matches!(name.value.as_str(), "default" | "C" | "POSIX"))
}

/// What a cast to one of the catalog's types becomes.
pub(super) enum CatalogType {
    /// Another type.
    Is(DataType),
    /// A call of this function.
    By(&'static str),
    /// The value as it is.
    Any,
}

pub(super) fn catalog_type(data_type: &DataType) -> Option<CatalogType> {
    let name = match data_type {
        DataType::Regclass => "regclass".to_owned(),
        DataType::Custom(name, _) => {
            let name = name.to_string().to_ascii_lowercase();
            name.strip_prefix("pg_catalog.").unwrap_or(&name).trim_matches('"').to_owned()
        }
        DataType::Array(ArrayElemTypeDef::SquareBracket(of, None)) => {
            return match catalog_type(of)? {
                CatalogType::Is(of) => {
                    let of = ArrayElemTypeDef::SquareBracket(Box::new(of), None);
                    Some(CatalogType::Is(DataType::Array(of)))
                }
                _ => Some(CatalogType::Any),
            };
        }
        // Of lists of the catalog's own.
        DataType::Array(_) if data_type.to_string().contains("pg_catalog.") => {
            return Some(CatalogType::Any);
        }
        _ => return None,
    };
    Some(match name.as_str() {
        "text" | "name" | "char" | "varchar" | "bpchar" => CatalogType::Is(DataType::Text),
        "oid" | "int8" | "xid" => CatalogType::Is(DataType::BigInt(None)),
        "int4" => CatalogType::Is(DataType::Integer(None)),
        "int2" => CatalogType::Is(DataType::SmallInt(None)),
        "bool" => CatalogType::Is(DataType::Boolean),
        "float8" => CatalogType::Is(DataType::DoublePrecision),
        "regclass" => CatalogType::By("gadus_regclass"),
        "regtype" => CatalogType::By("gadus_regtype"),
        "regnamespace" => CatalogType::By("gadus_regnamespace"),
        "regrole" => CatalogType::By("gadus_regrole"),
        "regproc" | "regprocedure" => CatalogType::By("gadus_regproc"),
        "int2vector" | "oidvector" | "_text" => CatalogType::Any,
        _ => return None,
    })
}

/// Whether a type is text, by whichever name.
pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Text | DataType::Varchar(_))
        || matches!(catalog_type(data_type), Some(CatalogType::Is(DataType::Text)))
}

/// Whether an expression is a column of the catalog that PostgreSQL shows as numbers with blanks between them.
pub(super) fn is_vector(expr: &Expr) -> bool {
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    };
    let is_of_index = |name: &str| {
        ["indkey", "indcollation", "indclass", "indoption"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    };
    name.is_some_and(|name| is_of_index(&name.value))
}
