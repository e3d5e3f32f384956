//! The text form: what is parsed and printed, what is said of the rest, and all spellings.

mod cases;
mod diagnostics;
mod hostile;
mod spellings;
