//! Tables of the catalog.

use super::casts::find_cast;
use super::functions::functions_named;
use super::operators::operators_named;
use super::*;
use crate::types::constants::*;

#[test]
fn contexts_decide_casts() {
    let path = |from, to, context| find_cast(from, to, context);
    let function = Some(CastPath::Value(CastMethod::Function));
    assert_eq!(path(INT4, INT8, CastContext::Implicit), function);
    assert_eq!(path(INT8, INT4, CastContext::Implicit), None);
    assert_eq!(path(INT8, INT4, CastContext::Assignment), function);
    assert_eq!(path(INT4, BOOL, CastContext::Assignment), None);
    assert_eq!(path(INT4, BOOL, CastContext::Explicit), function);
    let by_text = Some(CastPath::Value(CastMethod::Text));
    assert_eq!(path(UUID, TEXT, CastContext::Implicit), None);
    assert_eq!(path(UUID, TEXT, CastContext::Assignment), by_text);
    assert_eq!(path(TEXT, UUID, CastContext::Explicit), by_text);
    let elements = Some(CastPath::Elements(CastMethod::Function));
    assert_eq!(path(INT4_ARRAY, INT8_ARRAY, CastContext::Implicit), elements);
    assert!(is_binary_coercible(VARCHAR, TEXT));
    assert!(!is_binary_coercible(INT4, INT8));
}

#[test]
fn names_lead_to_all_their_signatures() {
    assert_eq!(operators_named("!=", false), operators_named("<>", false));
    assert!(operators_named("-", true).iter().any(|operator| operator.right == INTERVAL));
    assert_eq!(operators_named("no such", false).len(), 0);
    assert_eq!(functions_named("abs").len(), 6);
    let concat = functions_named("concat")[0];
    assert_eq!((concat.variadic_element(), concat.is_strict), (Some(ANY), false));
    assert!(functions_named("rank").iter().any(|function| function.is_aggregate()));
}
