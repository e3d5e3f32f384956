//! Lane arithmetic: the one place where a number is computed.
