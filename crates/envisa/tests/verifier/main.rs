//! Tests of the verifier.

mod broken_files;
mod corpus;
mod examples;
mod hostile;
mod mutations;
mod rules_page;
