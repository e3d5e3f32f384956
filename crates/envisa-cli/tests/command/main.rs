//! Tests of the `envisa` command.

#[path = "../../../envisa/tests/oracle/mod.rs"]
mod oracle;

mod browser;
mod cases;
mod codes;
mod damaged;
mod debug_information;
mod debugger;
mod drivers;
mod examples;
mod explain;
mod guide;
mod hostile_compilers;
mod interrupted;
mod not_checked;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod perf;
mod recommended;
mod report_in_browser;
mod run_json;
mod undefined;
