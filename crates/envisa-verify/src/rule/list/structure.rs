//! Rules on the structure of a module: what any reader of it relies on.

use super::rule;
use crate::Rule;

pub(crate) static STRUCTURE: &[Rule] = &[
    rule!(SHAPE, "operand-shape", Error, "6_instructions", "An instruction has the operands its format says",
        "Every slot of the format holds an operand of its kind, the counts of variable parts are right and within their limits, and the form belongs to the module's version.",
        binary "a message whose raw source is an immediate; a jump table of 3 labels whose count says 4"),
    rule!(DANGLING, "dangling-index", Error, "4_visa_header", "Indices name things that exist",
        "Variables, addresses, predicates, surfaces, samplers, labels, strings and attributes are named by index; each index lies in its table. The text parser reports names that are not declared before it comes to this.",
        binary "an operand that names general variable 99 of an object with three"),
    rule!(ALIAS_TARGET, "alias-target", Error, "4_visa_header", "A variable aliases one that is declared before it",
        "An alias names an earlier variable, so chains of aliases end.",
        binary "variable 33 that aliases variable 40, or itself"),
    rule!(LABEL_MISSING, "label-missing", Error, "LABEL", "A label that is used is placed",
        "Branches and calls name labels; each stands somewhere in the same object. Labels of `fccall` are supplied by a linker.",
        binary "a branch to a label that no LABEL places; in text the parser reports it"),
    rule!(LABEL_TWICE, "label-twice", Error, "LABEL", "A label is placed once",
        "Once declared, a label's place is fixed.",
        binary "two LABEL instructions of one label; in text the parser reports it"),
    rule!(LABEL_KIND, "label-kind", Error, "4_visa_header", "Branches go to blocks, calls to subroutines",
        "A label marks a block or a subroutine. Only blocks are targets of JMP, GOTO and SWITCHJMP, only subroutines of CALL.",
        binary "a CALL of a block label; in text the parser reports it"),
    rule!(EXEC_CODE, "exec-code", Error, "3_execution_model", "An execution size is 1, 2, 4, 8, 16 or 32",
        "Codes over 5 mean nothing.",
        binary "an execution byte of 0x06"),
    rule!(REGION_CODE, "region-code", Error, "5_operands", "A region's parts have codes 0 to 7",
        "Other codes mean nothing; nor do address operands of more than 32 elements.",
        binary "a region word of 0x2901"),
    rule!(FIELD_VALUE, "field-value", Error, "6_instructions", "A field holds one of its values",
        "The pages list the values of each field. Another rule checks values that exist only on some platforms.",
        binary "OWORD_LD with size code 5; in text the parser reports it"),
];
