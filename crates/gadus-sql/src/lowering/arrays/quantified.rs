//! Comparisons with ANY and ALL elements of an array that is computed.

use super::super::keys::has_key;
use super::super::operators::comparison;
use super::super::{Lowering, Result, Typed, missing};
use super::casts::element;
use crate::arrays::{ArrayFunction, call, depth_of, each_element, is_array, leaf_of, other_name};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::Operator as PlanOperator;
use gadus_binder::bound::{QuantifiedArray, Scalar};
use gadus_binder::types::constants;
use gadus_syntax::ast::Quantifier;
use std::collections::HashMap;

impl Lowering<'_> {
    /// Lowers a comparison of a value with the elements of an array.
    pub(in super::super) fn quantified_array(
        &mut self,
        quantified: &QuantifiedArray,
        array: &Scalar,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let QuantifiedArray { operator, left, quantifier, .. } = quantified;
        let (left, array) = (self.scalar(left, schema)?, self.scalar(array, schema)?);
        if !is_array(&array.data_type) {
            return missing(format!("ANY or ALL of {}", array.data_type));
        }
        let leaf = leaf_of(&array.data_type);
        let is_plain = left.data_type == *leaf
            && depth_of(&array.data_type) == 1
            && !leaf.is_floating()
            && !has_key(leaf)
            && *leaf != gadus_engine::INTERVAL;
        // Tables look for these by key.
        let known = match (comparison(operator.name), quantifier) {
            (Some(PlanOperator::Eq), Quantifier::Any) => Some("gadus_any_equal"),
            (Some(PlanOperator::NotEq), Quantifier::All) => Some("gadus_all_not_equal"),
            _ => None,
        };
        if let Some(name) = known.filter(|_| is_plain) {
            return Ok(Typed::new(
                self.call(name, vec![left.expr, array.expr])?,
                DataType::Boolean,
            ));
        }
        let name = other_name(0);
        let other = datafusion::logical_expr::Expr::Column(Column::new_unqualified(&name));
        let other = Typed::new(other, left.data_type.clone());
        let element = element(&array.data_type);
        let fields = vec![
            Field::new(crate::arrays::ELEMENT, element.data_type.clone(), true),
            Field::new(name, left.data_type.clone(), true),
        ];
        let of_elements = DFSchema::from_unqualified_fields(fields.into(), HashMap::new())?;
        let result = constants::BOOL.plain();
        let body = self.infix(operator, other, element, (result, &of_elements))?;
        if body.data_type != DataType::Boolean {
            return missing(format!("ANY or ALL of operator {}", operator.name));
        }
        let others = vec![(left.expr, left.data_type)];
        let (answers, _) = each_element((array.expr, &array.data_type), others, body.expr)?;
        let function = match quantifier {
            Quantifier::Any => ArrayFunction::Any,
            Quantifier::All => ArrayFunction::All,
        };
        Ok(Typed::new(call(function, vec![answers], DataType::Boolean), DataType::Boolean))
    }
}
