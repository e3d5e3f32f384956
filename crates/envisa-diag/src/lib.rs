//! Diagnostics: codes, labelled spans, rendering as text, JSON and SARIF.
