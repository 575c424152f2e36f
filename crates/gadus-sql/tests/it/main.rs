//! SQL through the public face: one binary, because each would compile DataFusion's futures again.

mod kept;
mod modify;
mod queries;
mod support;
mod transactions;
