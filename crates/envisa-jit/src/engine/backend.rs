//! Which compiler makes native code: `ENVISA_BACKEND=emitter|vir`.

use std::sync::OnceLock;

/// Does the environment ask for code made of the vector IR? Without the variable, the emitter makes code.
pub(super) fn vector_ir_asked() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| {
        let asked = std::env::var("ENVISA_BACKEND").unwrap_or_default();
        let (vector, warning) = choose_backend(&asked, cfg!(feature = "vector-ir"));
        if let Some(warning) = warning {
            eprintln!("warning: ENVISA_BACKEND={asked}: {warning}; the emitter makes native code");
        }
        vector
    })
}

/// Does this value of the variable choose the vector IR, where the build has it or has not? And what is wrong with the value.
fn choose_backend(value: &str, has_vector_ir: bool) -> (bool, Option<&'static str>) {
    match value {
        "" | "emitter" => (false, None),
        "vir" if has_vector_ir => (true, None),
        "vir" => (
            false,
            Some(
                "this build does not have the vector IR, which is the cargo feature `vector-ir` of `envisa`",
            ),
        ),
        _ => (false, Some("the backends are `emitter` and `vir`")),
    }
}

#[cfg(test)]
mod tests {
    use super::choose_backend;

    #[test]
    fn a_backend_that_is_not_there_is_told() {
        for there in [false, true] {
            assert_eq!(choose_backend("", there), (false, None));
            assert_eq!(choose_backend("emitter", there), (false, None));
            let (vector, warning) = choose_backend("llvm", there);
            assert!(!vector && warning.is_some_and(|w| w.contains("`emitter` and `vir`")));
        }
        assert_eq!(choose_backend("vir", true), (true, None));
        let (vector, warning) = choose_backend("vir", false);
        assert!(!vector && warning.is_some_and(|w| w.contains("feature `vector-ir`")));
    }
}
