//! Conversions of expressions (`coerce_type`).

use super::candidates::can_coerce;
use super::unify::{Mismatch, common_type};
use crate::bound::{Constant, Scalar, ScalarKind};
use crate::catalog::{CastContext, CastMethod, CastPath, find_cast};
use crate::error::{BindError, Result};
use crate::literals;
use crate::provider::Provider;
use crate::types::{BaseType, IntervalPrecision, Modifier, SqlType, TypeId, constants};
use gadus_syntax::Span;

/// Parameters of a statement, whose types follow from where they stand.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    types: Vec<Option<SqlType>>,
}

impl Parameters {
    /// Creates parameters of given types; unknown ones are decided later.
    pub(crate) fn new(given: &[Option<SqlType>]) -> Self {
        Self { types: given.to_vec() }
    }

    /// Returns the type of a parameter if it is decided.
    pub(crate) fn data_type(&mut self, number: u32) -> Option<SqlType> {
        let index = self.index(number);
        self.types[index]
    }

    fn index(&mut self, number: u32) -> usize {
        let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        if self.types.len() <= index {
            self.types.resize(index + 1, None);
        }
        index
    }

    /// Decides the type of a parameter.
    fn decide(&mut self, number: u32, to: TypeId, span: Span) -> Result<()> {
        let index = self.index(number);
        match self.types[index] {
            None => self.types[index] = Some(to.plain()),
            Some(known) if known.id == to => {}
            Some(known) => {
                let message = format!("inconsistent types deduced for parameter ${number}");
                let error = BindError::new("42P08", message, span);
                return Err(error.with_detail(format!("{} versus {to}", known.id)));
            }
        }
        Ok(())
    }

    /// Returns all types.
    ///
    /// # Errors
    /// 42P18 for one that is not decided.
    pub(crate) fn finish(self) -> Result<Vec<SqlType>> {
        let undecided = |index: usize| {
            let message = format!("could not determine data type of parameter ${}", index + 1);
            BindError::without_position("42P18", message)
        };
        let types = self.types.into_iter().enumerate();
        types.map(|(index, known)| known.ok_or_else(|| undecided(index))).collect()
    }
}

/// Conversions within one statement.
pub(crate) struct Coercion<'a> {
    /// Catalog that knows the labels of enumerations.
    pub(crate) provider: &'a dyn Provider,
    /// Parameters of the statement.
    pub(crate) parameters: &'a mut Parameters,
}

impl Coercion<'_> {
    /// Converts an expression to a type, without its modifier; `None` if the context does not allow that.
    pub(crate) fn convert(
        &mut self,
        value: Scalar,
        target: TypeId,
        context: CastContext,
    ) -> Result<Option<Scalar>> {
        let source = value.data_type.id;
        if source == target || target == constants::ANY || target.is_polymorphic() {
            return Ok(Some(value));
        }
        if source.is_unknown() {
            return self.convert_unknown(value, target).map(Some);
        }
        if matches!(value.kind, ScalarKind::Row(_)) && is_row(target) {
            return Ok(Some(Scalar { data_type: target.plain(), ..value }));
        }
        if is_row(source) && target == constants::RECORD {
            return Ok(Some(Scalar { data_type: target.plain(), ..value }));
        }
        if let ScalarKind::Array(elements) = value.kind {
            return self.convert_array(elements, value.data_type, target, (context, value.span));
        }
        let Some(path) = find_cast(source, target, context) else { return Ok(None) };
        let span = value.span;
        // A relabelled value keeps its limits only if the type has the same ones.
        let kind = ScalarKind::Cast { operand: Box::new(value), path, context, is_try: false };
        Ok(Some(Scalar::new(kind, target, span)))
    }

    /// Reads a literal as the type, decides a parameter's, and leaves all else to input of text.
    fn convert_unknown(&mut self, value: Scalar, target: TypeId) -> Result<Scalar> {
        let span = value.span;
        match value.kind {
            // Read when the statement runs, not when it is prepared.
            ScalarKind::Constant(Constant::Text(text)) if literals::is_volatile(&text, target) => {
                let constant = ScalarKind::Constant(Constant::Text(text));
                Ok(by_text(Scalar::new(constant, constants::TEXT, span), target))
            }
            ScalarKind::Constant(Constant::Text(text)) => {
                let constant = literals::read(&text, target, self.provider, span)?;
                Ok(Scalar::new(ScalarKind::Constant(constant), target, span))
            }
            ScalarKind::Constant(_) => Ok(Scalar { data_type: target.plain(), ..value }),
            ScalarKind::Parameter(number) => {
                self.parameters.decide(number, target, span)?;
                Ok(Scalar { data_type: target.plain(), ..value })
            }
            ScalarKind::Collate { operand, collation } => {
                let operand = Box::new(self.convert_unknown(*operand, target)?);
                Ok(Scalar::new(ScalarKind::Collate { operand, collation }, target, span))
            }
            _ => Ok(by_text(value, target)),
        }
    }

    /// Converts the elements of `ARRAY[…]`, so that literals are read as the type asked for.
    fn convert_array(
        &mut self,
        elements: Vec<Scalar>,
        from: SqlType,
        target: TypeId,
        (context, span): (CastContext, Span),
    ) -> Result<Option<Scalar>> {
        let Some(element) = target.element() else {
            let whole = Scalar::new(ScalarKind::Array(elements), from, span);
            let path = find_cast(from.id, target, context);
            return Ok(path.map(|path| {
                let operand = Box::new(whole);
                Scalar::new(
                    ScalarKind::Cast { operand, path, context, is_try: false },
                    target,
                    span,
                )
            }));
        };
        let mut converted = Vec::with_capacity(elements.len());
        for value in elements {
            let is_nested = value.data_type.id.is_array;
            let to = if is_nested { target } else { element };
            match self.convert(value, to, context)? {
                Some(value) => converted.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(Scalar::new(ScalarKind::Array(converted), target, span)))
    }

    /// Converts an argument for which the choice of a signature has found a way.
    pub(crate) fn argument(&mut self, value: Scalar, target: TypeId) -> Result<Scalar> {
        let (source, span) = (value.data_type.id, value.span);
        let converted = self.convert(value, target, CastContext::Implicit)?;
        converted.ok_or_else(|| cannot_cast(source, target, span))
    }

    /// Converts to a type with its modifier, as CAST does.
    pub(crate) fn explicit(&mut self, value: Scalar, target: SqlType) -> Result<Scalar> {
        let (source, span) = (value.data_type, value.span);
        let is_text = matches!(value.kind, ScalarKind::Constant(Constant::Text(_)));
        let names_fields = matches!(
            target.modifier,
            Modifier::Interval(IntervalPrecision { fields: Some(_), .. })
        );
        // The fields say what numbers without a unit count: such a literal stays as it is written.
        if source.id.is_unknown() && is_text && names_fields {
            let literal = Scalar { data_type: target.id.plain(), ..value };
            return Ok(with_modifier(literal, target.modifier, true));
        }
        let converted = self.convert(value, target.id, CastContext::Explicit)?;
        let converted = converted.ok_or_else(|| cannot_cast(source.id, target.id, span))?;
        Ok(with_modifier(converted, target.modifier, true))
    }

    /// Converts to boolean.
    ///
    /// # Errors
    /// 42804 with the clause that needs it.
    pub(crate) fn boolean(&mut self, value: Scalar, clause: &str) -> Result<Scalar> {
        let (source, span) = (value.data_type.id, value.span);
        let converted = self.convert(value, constants::BOOL, CastContext::Assignment)?;
        converted.filter(|_| source.is_unknown() || source == constants::BOOL).ok_or_else(|| {
            let message = format!("argument of {clause} must be type boolean, not type {source}");
            BindError::new("42804", message, span)
        })
    }

    /// Converts all to one type.
    ///
    /// # Errors
    /// 42804 with the construct they are of.
    pub(crate) fn unify(&mut self, values: Vec<Scalar>, construct: &str) -> Result<Vec<Scalar>> {
        let common = self.common(&values, construct)?;
        values.into_iter().map(|value| self.convert_to_common(value, common, construct)).collect()
    }

    /// Returns the type to which all convert.
    pub(crate) fn common(&self, values: &[Scalar], construct: &str) -> Result<SqlType> {
        let types = values.iter().map(|value| value.data_type).collect::<Vec<_>>();
        common_type(&types).map_err(|Mismatch { left, right, place }| {
            let message = format!("{construct} types {left} and {right} cannot be matched");
            BindError::new("42804", message, values[place].span)
        })
    }

    /// Converts to the type that was found for several.
    pub(crate) fn convert_to_common(
        &mut self,
        value: Scalar,
        common: SqlType,
        construct: &str,
    ) -> Result<Scalar> {
        let (source, span) = (value.data_type.id, value.span);
        if !can_coerce(source, common.id) {
            let target = common.id;
            let message = format!("{construct} could not convert type {source} to {target}");
            return Err(BindError::new("42846", message, span));
        }
        self.argument(value, common.id)
    }
}

/// Applies a modifier, unless the value has it already.
pub(crate) fn with_modifier(value: Scalar, modifier: Modifier, is_explicit: bool) -> Scalar {
    let data_type = SqlType { id: value.data_type.id, modifier };
    if modifier == Modifier::None || value.data_type.modifier == modifier {
        return value;
    }
    if matches!(value.kind, ScalarKind::Constant(Constant::Null)) {
        return Scalar { data_type, ..value };
    }
    let span = value.span;
    let kind = ScalarKind::ApplyModifier { operand: Box::new(value), is_explicit };
    Scalar::new(kind, data_type, span)
}

/// Converts by way of text.
fn by_text(value: Scalar, target: TypeId) -> Scalar {
    let span = value.span;
    let kind = ScalarKind::Cast {
        operand: Box::new(value),
        path: CastPath::Value(CastMethod::Text),
        context: CastContext::Implicit,
        is_try: false,
    };
    Scalar::new(kind, target, span)
}

/// Returns the error of a conversion that does not exist.
pub(crate) fn cannot_cast(source: TypeId, target: TypeId, span: Span) -> BindError {
    BindError::new("42846", format!("cannot cast type {source} to {target}"), span)
}

fn is_row(id: TypeId) -> bool {
    !id.is_array && matches!(id.base, BaseType::Record | BaseType::Composite(_))
}
