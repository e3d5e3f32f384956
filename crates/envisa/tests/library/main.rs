//! Tests of the library's interface.

mod explained_formulas;
mod facade;
mod observers;
mod profiles;
