//! The parser's diagnostics: codes, titles, explanations.

pub use envisa_diag::CodeInfo;

/// All of them, by code.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "E0101",
        title: "block comment is not closed",
        text: "A comment that starts with `/*` ends with the next `*/`. Without one, the rest of the file is part of it. The reference assembler accepts this silently, and assembles what precedes the comment.",
    },
    CodeInfo {
        code: "E0102",
        title: "a line starts with a character that cannot start a statement",
        text: "A statement is a directive (`.decl …`), a label (`name:` in the first column), an instruction, or `{` or `}` around a scope.",
    },
    CodeInfo {
        code: "E0103",
        title: "string is not closed",
        text: "A string ends on the line on which it starts.",
    },
    CodeInfo {
        code: "E0104",
        title: "bad content of a string",
        text: r#"Strings know the escapes \a \b \e \f \n \r \t \v \' \\" \? \\, \NNN (octal) and \xHH. They hold UTF-8 without NUL, since strings of the binary end at a NUL."#,
    },
    CodeInfo {
        code: "E0105",
        title: "number is too large",
        text: "Decimal numbers have 31 bits, hexadecimal ones 64. The reference assembler lets greater decimal numbers wrap, so that `4294967295:q` becomes -1.",
    },
    CodeInfo {
        code: "E0107",
        title: "too many errors",
        text: "Reading stops after a number of errors; later ones often follow from the first.",
    },
    CodeInfo {
        code: "E0108",
        title: "text is too large",
        text: "Positions in a text have 32 bits, so a text has at most 4 GiB. The caller of the parser may set a lower limit.",
    },
    CodeInfo {
        code: "E0201",
        title: "`.version` is missing",
        text: "The first statement of a file is `.version 4.1`.",
    },
    CodeInfo {
        code: "E0202",
        title: "unknown or repeated version",
        text: "Known versions are 3.x, 4.0 and 4.1, which read alike, and 4.2 with the instructions of the newer pages.",
    },
    CodeInfo {
        code: "E0203",
        title: "unknown directive",
        text: "Directives start with a dot in place of an instruction.",
    },
    CodeInfo {
        code: "E0204",
        title: "malformed directive or declaration",
        text: "A declaration is `.decl NAME v_type=G type=T num_elts=N [align=A] [alias=<V, offset>] [attrs={…}]`, or with v_type A, P, S or T without type, align and alias. The order is fixed.",
    },
    CodeInfo {
        code: "E0205",
        title: "number of elements out of range",
        text: "A variable has 1 to 65535 elements. The reference assembler keeps the number modulo 65536.",
    },
    CodeInfo {
        code: "E0206",
        title: "unknown alignment",
        text: "Alignments are byte, word, dword, qword, oword, hword, GRF, GRFx2, wordx32, wordx64, or 2 to 128 bytes.",
    },
    CodeInfo {
        code: "E0207",
        title: "alias out of range",
        text: "An alias names a variable declared before and a byte offset of 0 to 65535.",
    },
    CodeInfo {
        code: "E0208",
        title: "misplaced attribute",
        text: "Attributes belong either to kernels (`.kernel_attr`) or to variables (`attrs={…}`); samplers have none.",
    },
    CodeInfo {
        code: "E0209",
        title: "wrong value of an attribute",
        text: r#"Flags take no value or 1, numbers 32 bits, Target is "cm" or "3d"."#,
    },
    CodeInfo {
        code: "E0210",
        title: "bad input",
        text: "Inputs are general variables, samplers or surfaces of a kernel, at an offset of 16 bits, signed, with a size of 16 bits. Functions have no inputs.",
    },
    CodeInfo {
        code: "E0211",
        title: "statement outside of a kernel",
        text: "Declarations and instructions follow `.kernel` or `.global_function`.",
    },
    CodeInfo {
        code: "E0212",
        title: "unbalanced scope",
        text: "`{` and `}` on lines of their own enclose a scope of declarations.",
    },
    CodeInfo {
        code: "E0301",
        title: "name is not declared",
        text: "Variables are declared before their use. Predefined ones are %r0, %arg and so on; the predefined surfaces are %slm, TSS, %bss and %scratch.",
    },
    CodeInfo {
        code: "E0302",
        title: "name is declared twice",
        text: "All classes of variables share one space of names in a scope; predefined names belong to it. Kernels and functions have names of their own.",
    },
    CodeInfo {
        code: "E0303",
        title: "name of another class",
        text: "The operand takes a variable of another class.",
    },
    CodeInfo {
        code: "E0304",
        title: "label or subroutine is not defined",
        text: "Branches name labels of their kernel, calls name subroutines (`.function`).",
    },
    CodeInfo { code: "E0305", title: "label is defined twice", text: "A label marks one place of a kernel." },
    CodeInfo {
        code: "E0306",
        title: "misplaced label",
        text: "Labels are defined in the first column, alone on their line.",
    },
    CodeInfo {
        code: "E0307",
        title: "too many of a kind",
        text: "A kernel holds 65535 labels and address variables, 4095 predicates, 31 samplers, 250 surfaces and 16384 inputs: instructions have no room for greater numbers.",
    },
    CodeInfo {
        code: "E0401",
        title: "unknown instruction",
        text: "Mnemonics are lower case. Some exist in newer versions only.",
    },
    CodeInfo {
        code: "E0402",
        title: "something else was expected",
        text: "The text does not follow the form of the statement.",
    },
    CodeInfo {
        code: "E0403",
        title: "wrong suffix or value",
        text: "A suffix of the mnemonic or a field of the instruction has another value than it can have.",
    },
    CodeInfo { code: "E0404", title: "predicate is not allowed", text: "The instruction has no predicate." },
    CodeInfo {
        code: "E0405",
        title: "something is left over on the line",
        text: "A statement ends with its line.",
    },
    CodeInfo {
        code: "E0406",
        title: "wrong execution size or mask",
        text: "An execution size is 1, 2, 4, 8, 16 or 32; a mask M1 to M8, or M1_NM to M8_NM, which ignore the execution mask (`NoMask` is M1_NM).",
    },
    CodeInfo {
        code: "E0407",
        title: "operand is missing",
        text: "The instruction has more operands than the line.",
    },
    CodeInfo {
        code: "E0408",
        title: "operand of this kind is not allowed",
        text: "Destinations are written, so they are not immediates and have no source modifiers; other operands are limited to some classes.",
    },
    CodeInfo {
        code: "E0409",
        title: "number out of range",
        text: "The binary holds the number in fewer bits. The reference assembler lets most of them wrap.",
    },
    CodeInfo {
        code: "E0410",
        title: "wrong region",
        text: "A destination has `<stride>`, a source `<vertical;width,horizontal>`, an address operand `<width>`. Strides are 0, 1, 2, 4, 8, 16, 32 (vertical) or 0, 1, 2, 4 (horizontal); widths 1 to 16.",
    },
    CodeInfo { code: "E0411", title: "%null is not allowed", text: "The operand must exist." },
    CodeInfo {
        code: "E0412",
        title: "a later version's notation",
        text: "Version 4.2 brought a third level of caching (`.ca.ca.uc`), bases of flat addresses (`flat(V32)[V33]:a64`), surface states at addresses (`surf(V32)[V33]:a32u`), indices behind surfaces (`bss(V32,1)`), offsets of coordinates (`bti(0x4)[V32+4,V33]`) and block addresses in one register (`flat[V32+(0,8)]`). Texts of 4.1, which the released tools read, have none of them.",
    },
    CodeInfo {
        code: "E0501",
        title: "immediate does not fit its type",
        text: "The reference assembler stores the low 32 bits and uses those of the type. Narrow signed types also take the 32-bit pattern of a negative number, as IGC writes it.",
    },
    CodeInfo {
        code: "E0502",
        title: "malformed immediate",
        text: "Immediates are `0x10:ud`, `-1:d`, `1.5:f`, `1.0e+3:df`, `0x3c00:hf`, or bit patterns `0x3f800000:f`.",
    },
    CodeInfo {
        code: "E0503",
        title: "expression has no value",
        text: "Overflow, division by zero, a shift by more than 63, or nesting that is too deep.",
    },
    CodeInfo { code: "E0601", title: "malformed annotation", text: "An annotation is `//@ key=value …`." },
    CodeInfo {
        code: "E0602",
        title: "wrong value in an annotation",
        text: "The key does not take this value.",
    },
    CodeInfo {
        code: "W0101",
        title: "comment seems to swallow code",
        text: "Block comments do not nest; a comment that contains the start of a kernel was probably meant to end earlier.",
    },
    CodeInfo {
        code: "W0102",
        title: "text starts with a byte order mark",
        text: "Some editors write these three bytes in front of UTF-8. They are skipped; the reference assembler takes them for a syntax error.",
    },
    CodeInfo {
        code: "W0107",
        title: "too many warnings",
        text: "Reading goes on; further warnings are not shown.",
    },
    CodeInfo {
        code: "W0208",
        title: "old name of an attribute",
        text: "The attribute has another name now.",
    },
    CodeInfo {
        code: "W0209",
        title: "flag with the value 0",
        text: "A flag that is given is on, whatever its value.",
    },
    CodeInfo {
        code: "W0210",
        title: "attribute that this version does not know",
        text: "New releases of the compiler bring new attributes. An attribute that is not known, or that came with a later version than the text's, is kept unchanged: a number in four bytes, a string as its bytes, a flag without a value. envisa does not use it.",
    },
    CodeInfo {
        code: "W0302",
        title: "word of the language as a name",
        text: "Mnemonics and words such as `flat` and `bti` are names to envisa where a name is expected; the reference assembler always takes them for words. When envisa prints or disassembles such a name, it writes another one.",
    },
    CodeInfo {
        code: "W0401",
        title: "without effect",
        text: "The reference assembler reads it and ignores it.",
    },
    CodeInfo {
        code: "W0402",
        title: "the reference drops the predicate",
        text: "envisa keeps the predicate of a logic instruction on predicates; the reference assembler writes none.",
    },
    CodeInfo { code: "W0502", title: "depends on the platform", text: "Registers have 32 or 64 bytes." },
    CodeInfo {
        code: "W0503",
        title: "bit pattern of a float",
        text: "`1:f` is the number whose bits are 1, 1.4e-45; one is `1.0:f`.",
    },
    CodeInfo {
        code: "W0504",
        title: "negative unsigned immediate",
        text: "The bits are those of the two's complement.",
    },
    CodeInfo {
        code: "W0505",
        title: "bf immediate",
        text: "Only annotated or 4.2 texts have them; the reference assembler does not read them.",
    },
    CodeInfo { code: "W0601", title: "unknown key in an annotation", text: "The key is ignored." },
];

/// The entry of a code.
pub fn find_code(code: &str) -> Option<&'static CodeInfo> {
    CODES.iter().find(|c| c.code == code)
}
