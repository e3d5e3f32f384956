//! Tests against the reference assembler, `GenX_IR`, where it is installed, and of what is printed and read back.

#[allow(dead_code)]
#[path = "../filetests/case.rs"]
mod case;
#[path = "../oracle/mod.rs"]
mod oracle;
#[allow(dead_code)]
#[path = "../filetests/values.rs"]
mod values;

mod bytes;
mod diagnostics;
mod filetests;
mod hand_written;
mod printing;
mod round_trips;
