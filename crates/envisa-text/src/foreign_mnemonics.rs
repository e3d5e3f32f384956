//! Mnemonics of other assemblers and their names in vISA, for hints.

/// Words, and what to write for them.
const ADVICE: &[(&[&str], &str)] = &[
    (&["sub"], "vISA has no subtraction: add the negated operand, as in `add (M1, 8) d a (-)b`"),
    (&["neg"], "to negate, move with the source modifier `(-)`: `mov (M1, 8) d (-)a`"),
    (
        &["abs", "fabs"],
        "for the absolute value, move with the source modifier `(abs)`: `mov (M1, 8) d (abs)a`",
    ),
    (
        &["cvt", "conv", "convert", "cast", "trunc", "zext", "sext", "fptosi", "sitofp", "movsx", "movzx"],
        "`mov` converts between the types of its operands",
    ),
    (&["fma", "mac", "ffma", "fmad", "imad"], "multiply and add is `mad`"),
    (&["fadd", "iadd"], "addition is `add`, whatever the type"),
    (&["fmul", "imul"], "multiplication is `mul`, whatever the type"),
    (&["rem", "urem", "srem", "modulo"], "the remainder is `mod`"),
    (&["sar", "ashr", "sra"], "the arithmetic shift right is `asr`"),
    (&["lshr", "lsr", "srl"], "the logical shift right is `shr`"),
    (&["lsl", "sll"], "the shift left is `shl`"),
    (&["floor"], "rounding down is `rndd`"),
    (&["ceil"], "rounding up is `rndu`"),
    (&["round", "rint"], "rounding to the nearest is `rnde`"),
    (&["rcp", "recip"], "the reciprocal is `inv`"),
    (&["rsq"], "the reciprocal square root is `rsqrt`"),
    (&["ex2"], "two to the power is `exp`"),
    (&["lg2", "log2"], "the logarithm to base 2 is `log`"),
    (&["popc", "popcnt", "popcount", "ctpop"], "the number of bits set is `cbit`"),
    (&["clz", "ctlz", "lzcnt"], "the number of leading zeros is `lzd`"),
    (&["select", "selp", "cmov"], "selection by a predicate is `sel`"),
    (&["br", "bra", "branch", "b", "jump"], "channels branch with `goto`, all together with `jmp`"),
    (
        &["if", "else", "endif", "while", "do", "break", "cont"],
        "vISA has no structured control flow: branch with a predicated `goto`",
    ),
    (&["exit", "end", "halt", "eot", "return"], "a kernel ends with `ret (M1, 1)`"),
    (
        &["ld", "ldg", "lds", "store", "st", "stg", "sts"],
        "memory is read and written by messages: `lsc_load` and `lsc_store` from DG2 on, before that `gather4_scaled`, `scatter4_scaled`, `svm_gather`, `oword_ld`",
    ),
    (&["send", "sends", "sendc", "sendsc"], "raw messages are `raw_send` and `raw_sends`"),
    (&["bar", "sync", "syncthreads"], "all threads of a group meet at `barrier`"),
    (
        &["membar", "fence"],
        "fences are `fence_global`, `fence_local`, `fence_sw`, and `lsc_fence` from DG2 on",
    ),
    (
        &["atom", "atomic", "red"],
        "atomics are `dword_atomic`, `svm_atomic`, `typed_atomic`, and `lsc_atomic_…` from DG2 on",
    ),
    (&["setcc", "icmp", "fcmp"], "comparison is `cmp.eq`, `cmp.lt` and so on"),
    (&["phi"], "vISA is not in SSA form: assign with `mov` in each predecessor"),
    (&["nop"], "there is no instruction without effect; leave the line out"),
    (
        &["let", "var", "int", "float", "def"],
        "variables are declared as in `.decl V32 v_type=G type=d num_elts=8 align=GRF`",
    ),
];

/// What to write for an instruction that other languages have by this name.
pub(crate) fn advice_for_foreign_mnemonic(word: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(words, _)| words.contains(&word)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::ADVICE;

    #[test]
    fn advice_names_instructions_that_exist_for_words_that_do_not() {
        let forms = crate::template::Forms::get();
        for (words, advice) in ADVICE {
            for word in *words {
                assert!(forms.of_head(word.as_bytes()).is_empty(), "{word} exists");
            }
            for name in advice.split('`').skip(1).step_by(2) {
                let head = name.split([' ', '.', '…']).next().unwrap_or("");
                if head.is_empty() || head.starts_with('(') || head.ends_with('_') {
                    continue;
                }
                assert!(!forms.of_head(head.as_bytes()).is_empty(), "{words:?}: {head}");
            }
        }
    }
}
