//! Addition and subtraction: exact, at the greater scale of both operands.

use crate::error::Result;
use crate::powers;
use crate::value::{Numeric, Repr};
use crate::working::Working;

impl Numeric {
    /// Adds.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    #[inline]
    pub fn add(&self, other: &Self) -> Result<Self> {
        if let Some((one, other, scale)) = aligned(self, other)
            && let Some(sum) = one.checked_add(other)
        {
            return Ok(Self::small(sum, scale));
        }
        add_any(self, other)
    }

    /// Subtracts.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    #[inline]
    pub fn subtract(&self, other: &Self) -> Result<Self> {
        if let Some((one, other, scale)) = aligned(self, other)
            && let Some(difference) = one.checked_sub(other)
        {
            return Ok(Self::small(difference, scale));
        }
        add_any(self, &other.negate())
    }
}

/// Returns the integers of both operands at their greater scale, if they fit 128 bits.
#[inline]
fn aligned(one: &Numeric, other: &Numeric) -> Option<(i128, i128, u16)> {
    let (
        Repr::Small { unscaled: one, scale: scale_of_one },
        Repr::Small { unscaled: other, scale: scale_of_other },
    ) = (&one.0, &other.0)
    else {
        return None;
    };
    let scaled = |unscaled: i128, missing: u16| {
        powers::small_power(usize::from(missing)).and_then(|power| unscaled.checked_mul(power))
    };
    match scale_of_one.cmp(scale_of_other) {
        std::cmp::Ordering::Equal => Some((*one, *other, *scale_of_one)),
        std::cmp::Ordering::Less => {
            Some((scaled(*one, scale_of_other - scale_of_one)?, *other, *scale_of_other))
        }
        std::cmp::Ordering::Greater => {
            Some((*one, scaled(*other, scale_of_one - scale_of_other)?, *scale_of_one))
        }
    }
}

#[cold]
fn add_any(one: &Numeric, other: &Numeric) -> Result<Numeric> {
    if let (Ok((one, scale)), Ok((other, scale_of_other))) = (one.parts(), other.parts())
        && scale == scale_of_other
    {
        return Numeric::finite(&*one + &*other, scale);
    }
    match (Working::of(one), Working::of(other)) {
        (Ok(one), Ok(other)) => {
            let sum = one.add(&other);
            Numeric::finite(sum.digits, sum.scale)
        }
        (Err(special), Ok(_)) | (Ok(_), Err(special)) => Ok(special.into()),
        // Infinities of different signs have no sum.
        (Err(one), Err(other)) => Ok(if one == other { one.into() } else { Numeric::NAN }),
    }
}
