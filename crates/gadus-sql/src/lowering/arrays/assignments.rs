//! Assignments to elements and slices: `SET a[1] = 5`, `INSERT INTO t (a[1:2])`.

use super::super::casts::converted;
use super::super::{Lowering, Result, Typed, missing};
use super::refuse_subscripts;
use crate::arrays::{ArrayFunction, call, depth_of, is_array, leaf_of, of_leaf};
use crate::json::JSONB;
use datafusion::common::DFSchema;
use gadus_binder::bound::SubscriptItem;
use gadus_syntax::Span;

impl Lowering<'_> {
    /// Puts a value in elements of an array.
    pub(in super::super) fn assigned_elements(
        &mut self,
        array: Typed,
        (items, value): (&[SubscriptItem], Typed),
        span: Span,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let is_document = [&value.data_type, &array.data_type].contains(&&JSONB);
        if is_document && !is_array(&array.data_type) {
            let value = converted(value, JSONB, false)?;
            return self.assigned_member(array, (items, value), schema);
        }
        refuse_subscripts(items.len(), span)?;
        let whole = array.data_type.clone();
        if !is_array(&whole) {
            return missing(format!("an assignment to elements of {whole}"));
        }
        let (bounds, slices) = self.subscripts(items, schema)?;
        let leaf = leaf_of(&whole);
        let (function, value) = match slices {
            None => (ArrayFunction::AssignElement, converted(value, leaf.clone(), false)?),
            Some(slices) => {
                // A slice takes the elements in their order, whatever the dimensions.
                let depth = depth_of(&value.data_type).max(1);
                let value = converted(value, of_leaf(leaf, depth), false)?;
                (ArrayFunction::AssignSlice(slices), value)
            }
        };
        let arguments = [array.expr, value.expr].into_iter().chain(bounds).collect();
        Ok(Typed::new(call(function, arguments, whole.clone()), whole))
    }
}
