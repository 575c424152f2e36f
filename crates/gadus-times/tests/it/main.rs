//! The crate through its public face.

mod call_values;
mod calls;
mod golden;
mod hostile;
mod identities;
mod random;
mod styles;
