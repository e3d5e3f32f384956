//! The verifier: every documented rule as data beside code; makes Verified modules.
//!
//! [`verify`] runs every rule over a module and gives what it found, and the module as [`Verified`]
//! unless something grave was among it. What is known of the rules themselves, with examples, is in
//! [`rule`]. Rules read the instruction table; what they add to it are the restrictions that are no
//! property of one slot.

mod accesses;
mod allow_comments;
mod block_facts;
mod context;
mod declarations;
mod divergence;
mod finding;
mod flow;
mod graphics;
mod instruction_shape;
mod known_values;
mod lints;
mod lsc;
mod memory;
mod operand;
mod operand_types;
mod page_rules;
pub mod rule;
mod rule_code;
mod run_rules;
pub mod structure;
mod verified;

pub use allow_comments::parse_allow_comments;
pub use finding::{Allowance, Finding, Level, Mark, Options};
#[doc(hidden)]
pub use page_rules::stale_page_names;
pub use rule::{Example, Kind, Rule};
pub use rule_code::Code;
pub use verified::Verified;

use envisa_diag::Severity;
use envisa_isa::Module;

/// Runs every rule over a module; the findings in the order of the source.
pub fn check(module: &Module, options: &Options) -> Vec<Finding> {
    run_rules::run(module, options)
}

/// Verifies a module: all findings, and the module as [`Verified`] unless one of them is an error.
pub fn verify(module: Module, options: &Options) -> (Vec<Finding>, Option<Verified>) {
    let findings = check(&module, options);
    let sound = findings.iter().all(|f| f.severity != Severity::Error);
    (findings, sound.then(|| Verified::new(module)))
}
