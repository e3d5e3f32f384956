//! The verifier: every documented rule as data beside code; makes Verified modules.
