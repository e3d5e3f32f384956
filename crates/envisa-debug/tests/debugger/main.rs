//! The debugger: what it shows is so, whatever it is sent.

mod hostile;
mod truth;
