//! Rules on declarations.

use super::rule;
use crate::Rule;

pub(crate) static DECLARATIONS: &[Rule] = &[
    rule!(VAR_TYPE, "var-type", Error, "4_visa_header", "A general variable has an integer or floating-point type",
        "Packed vectors exist as immediates only, bool as predicates only.",
        binary "a general variable of type v"),
    rule!(VAR_ELEMENTS, "var-elements", Error, "4_visa_header", "A general variable has 1 to 4096 elements",
        "The number of elements is in the declaration; arrays that are larger have to live in memory.",
        bad ".decl X v_type=G type=ub num_elts=5000 align=GRF\nmov (M1,1) X(0,0)<1> 0x0:ub"
        good ".decl X v_type=G type=ub num_elts=4096 align=GRF\nmov (M1,1) X(0,0)<1> 0x0:ub"),
    rule!(VAR_BYTES, "var-bytes", Error, "4_visa_header", "A general variable has at most 4096 bytes",
        "The page says 4K bytes. With registers of 64 bytes the register file is twice as large, and the reference compiler uses up to 8192.",
        bad ".decl X v_type=G type=ud num_elts=2000 align=GRF\nmov (M1,1) X(0,0)<1> 0x0:ud"
        good ".decl X v_type=G type=ud num_elts=1000 align=GRF\nmov (M1,1) X(0,0)<1> 0x0:ud"),
    rule!(ALIAS_OFFSET_UNUSED, "alias-offset-unused", Error, "4_visa_header", "A variable that aliases nothing has no alias offset",
        "The offset must be zero if there is no alias.",
        binary "a variable with alias 0 and alias offset 4"),
    rule!(ALIAS_MISALIGNED, "alias-misaligned", Error, "4_visa_header", "An alias offset is a multiple of the alias's element size",
        "The alias's elements would straddle otherwise.",
        bad ".decl X v_type=G type=ud num_elts=8 alias=<Vud, 2>\nmov (M1,8) X(0,0)<1> 0x0:ud"
        good ".decl X v_type=G type=ud num_elts=8 alias=<Vud, 4>\nmov (M1,4) X(0,0)<1> 0x0:ud"),
    rule!(ALIAS_OUTSIDE, "alias-outside", Warning, "4_visa_header", "An alias lies inside the variable it aliases",
        "An alias refers to a subset of the elements of its base. The reference compiler declares longer ones, so this is a warning.",
        bad ".decl X v_type=G type=ud num_elts=64 alias=<Vud, 32>\nmov (M1,8) X(0,0)<1> 0x0:ud"
        good ".decl X v_type=G type=ud num_elts=8 alias=<Vud, 32>\nmov (M1,8) X(0,0)<1> 0x0:ud"),
    rule!(ALIAS_PREDEFINED, "alias-predefined", Warning, "4_visa_header", "Few predefined variables can be aliased",
        "The page allows %r0, %arg, %retval and the two pointers to implicit arguments; the reference compiler also aliases %hw_id and others, so this is a warning.",
        bad ".decl X v_type=G type=ud num_elts=1 alias=<%tsc, 0>\nmov (M1,1) Vud(0,0)<1> X(0,0)<0;1,0>"
        good ".decl X v_type=G type=ud num_elts=1 alias=<%r0, 0>\nmov (M1,1) Vud(0,0)<1> X(0,0)<0;1,0>"),
    rule!(ALIAS_BASE_ALIGN, "alias-base-align", Error, "4_visa_header", "The base of an alias is aligned to the alias's type",
        "A small variable may lie anywhere its own alignment allows; an alias of a larger type needs more.",
        bad ".decl B v_type=G type=ub num_elts=8 align=byte\n.decl X v_type=G type=ud num_elts=2 alias=<B, 0>\nmov (M1,2) X(0,0)<1> 0x0:ud"
        good ".decl B v_type=G type=ub num_elts=8 align=dword\n.decl X v_type=G type=ud num_elts=2 alias=<B, 0>\nmov (M1,2) X(0,0)<1> 0x0:ud"),
    rule!(ADDRESS_ELEMENTS, "address-elements", Error, "4_visa_header", "An address variable has 1 to 16 elements",
        "There are 16 address registers.",
        bad ".decl AX v_type=A num_elts=32\naddr_add (M1_NM,1) AX(0)<1> &Vud[0] 0x0:uw"
        good ".decl AX v_type=A num_elts=16\naddr_add (M1_NM,1) AX(0)<1> &Vud[0] 0x0:uw"),
    rule!(PREDICATE_ELEMENTS, "predicate-elements", Error, "4_visa_header", "A predicate has 1, 2, 4, 8, 16 or 32 elements",
        "As many as there can be channels.",
        bad ".decl PX v_type=P num_elts=12\nsetp (M1_NM,8) PX 0x0:ud" good ".decl PX v_type=P num_elts=16\nsetp (M1_NM,8) PX 0x0:ud"),
    rule!(STATE_ELEMENTS, "state-elements", Error, "4_visa_header", "A surface or sampler variable has elements",
        "State variables are vectors of handles, of four bytes each.",
        binary "a surface of no element; in text the parser reports it"),
    rule!(TOO_MANY, "too-many", Error, "4_visa_header", "The numbers of things declared have limits",
        "65536 general variables, 4096 addresses, 4096 predicates with the reserved one, 32 samplers, 256 surfaces with the predefined ones, 16384 inputs (see many-inputs), 131072 strings.",
        binary "an object with 33 samplers"),
    rule!(NAME_LENGTH, "name-length", Warning, "4_visa_header", "Names have limits",
        "64 characters for variables and attributes, 1024 for labels, 1023 for kernels and functions. The reference compiler exceeds the limit of variables, so this is a warning.",
        bad ".decl a234567890123456789012345678901234567890123456789012345678901234567890 v_type=P num_elts=8\nsetp (M1_NM,8) a234567890123456789012345678901234567890123456789012345678901234567890 0x0:ud"
        good ".decl a234567890 v_type=P num_elts=8\nsetp (M1_NM,8) a234567890 0x0:ud"),
    rule!(ATTR_VALUE, "attribute-value", Error, "4_visa_header", "Attributes that the specification defines have the values it lists",
        "SimdSize 8, 16, 32; SLMSize 0 to 64; ArgSize 0 to 32; RetValSize 0 to 12; SpillMemOffset a multiple of the register size; Scope 0, 1.",
        bad ".kernel_attr SimdSize=12" good ".kernel_attr SimdSize=8"),
    rule!(FUNCTION_ATTRS, "function-attributes", Warning, "4_visa_header", "A function has ArgSize and RetValSize",
        "The page says they must be present. The reference compiler leaves them out where they are zero, so this is a warning.",
        bad ".version 4.1\n.global_function \"f\"\nfret (M1_NM,1)\n"
        good ".version 4.1\n.global_function \"f\"\n.kernel_attr ArgSize=0\n.kernel_attr RetValSize=0\nfret (M1_NM,1)\n"),
    rule!(ATTR_TWICE, "attribute-twice", Error, "4_visa_header", "An attribute is given once",
        "The page does not say what a second value means; the reference takes the last one, and reports an error for some attributes.",
        bad ".kernel_attr SimdSize=8\n.kernel_attr SimdSize=16" good ".kernel_attr SimdSize=16"),
    rule!(INPUT_MISALIGNED, "input-misaligned", Error, "4_visa_header", "An input's offset is a multiple of its element size",
        "State inputs (samplers, surfaces) count as dwords.",
        bad ".decl X v_type=G type=ud num_elts=1 align=dword\n.input X offset=34 size=4"
        good ".decl X v_type=G type=ud num_elts=1 align=dword\n.input X offset=36 size=4"),
    rule!(INPUT_GRF_ALIGNED, "input-register-aligned", Error, "4_visa_header", "An input of a register or more starts at a register",
        "32 bytes, from PVC on 64. On PVC the reference compiler passes arrays of 32 bytes at multiples of 32; those are smaller than a register there.",
        bad ".decl X v_type=G type=ud num_elts=8 align=GRF\n.input X offset=48 size=32"
        good ".decl X v_type=G type=ud num_elts=8 align=GRF\n.input X offset=64 size=32"),
    rule!(INPUT_CROSSES_GRF, "input-crosses-register", Error, "4_visa_header", "A small input lies in one register",
        "An input smaller than a register does not cross the boundary of two.",
        bad ".decl X v_type=G type=ud num_elts=4 align=dword\n.input X offset=56 size=16"
        good ".decl X v_type=G type=ud num_elts=4 align=dword\n.input X offset=48 size=16"),
    rule!(INPUT_SIZE, "input-size", Error, "4_visa_header", "An input's size is that of its variable",
        "Element size times number of elements; four bytes an element for surfaces and samplers.",
        bad ".decl X v_type=G type=ud num_elts=2 align=dword\n.input X offset=64 size=4"
        good ".decl X v_type=G type=ud num_elts=2 align=dword\n.input X offset=64 size=8"),
    rule!(INPUT_OVERLAP, "input-overlap", Error, "4_visa_header", "Inputs do not overlap",
        "Each has its own bytes in the payload.",
        bad ".decl X v_type=G type=ud num_elts=2 align=dword\n.decl Y v_type=G type=ud num_elts=2 align=dword\n.input X offset=64 size=8\n.input Y offset=68 size=8"
        good ".decl X v_type=G type=ud num_elts=2 align=dword\n.decl Y v_type=G type=ud num_elts=2 align=dword\n.input X offset=64 size=8\n.input Y offset=72 size=8"),
    rule!(INPUT_ALIASED, "input-aliased", Error, "4_visa_header", "An input is a variable of its own",
        "Its alias index is zero; a predefined variable is not an input either.",
        bad ".decl X v_type=G type=d num_elts=8 alias=<Vud, 0>\n.input X offset=64 size=32"
        good ".decl X v_type=G type=d num_elts=8 align=GRF\n.input X offset=64 size=32"),
    rule!(INPUT_KIND, "input-kind", Warning, "4_visa_header", "Explicit inputs come before implicit ones",
        "Inputs that the user supplies come first in the table. Runtimes that read `.ze_info` do not care, and the reference compiler mixes them, so this is a warning.",
        bad ".decl X v_type=G type=ud num_elts=1 align=dword\n.decl Y v_type=G type=ud num_elts=3 align=dword\n.implicit_UNDEFINED_1 Y offset=64 size=12\n.input X offset=96 size=4"
        good ".decl X v_type=G type=ud num_elts=1 align=dword\n.decl Y v_type=G type=ud num_elts=3 align=dword\n.input X offset=96 size=4\n.implicit_UNDEFINED_1 Y offset=64 size=12"),
    rule!(INPUT_OUTSIDE, "input-outside", Error, "4_visa_header", "An input lies inside the register file",
        "Offsets are in bytes from register 0 on; a thread has at most 256 registers.",
        bad ".decl X v_type=G type=ud num_elts=8 align=GRF\n.input X offset=16384 size=32"
        good ".decl X v_type=G type=ud num_elts=8 align=GRF\n.input X offset=1024 size=32"),
    rule!(MANY_INPUTS, "many-inputs", Warning, "4_visa_header", "A kernel has fewer than 256 inputs",
        "The page allows 256. The reference assembler counts them in one byte, so it keeps none of 256. The reference compiler writes more if there are many arguments, and its own reader counts them in 32 bits.",
        binary "a kernel of 256 inputs, in text too"),
    rule!(FUNCTION_SIZES, "function-sizes", Error, "4_visa_header", "A function takes at most 32 and returns at most 12 registers",
        "The two bytes of the binary that follow a function's entry.",
        binary "a function object whose input size is 40"),
    rule!(OBJECT_TWICE, "object-twice", Error, "3_execution_model", "Kernels and functions of a module have different names",
        "Calls and launches refer to them by name.",
        binary "two kernels of one name; in text the parser reports it"),
    rule!(IMPLICIT_SHAPE, "implicit-shape", Warning, "4_visa_header", "An implicit input has the shape of its kind",
        "Local size, group count and local id are 3 ud, the scoreboard's dependencies 16 ub, its surface a surface. The reference assembler makes kind 5 of every named form, so this is a warning.",
        bad ".decl X v_type=G type=ud num_elts=1 align=dword\n.implicit_UNDEFINED_1 X offset=64 size=4"
        good ".decl X v_type=G type=ud num_elts=3 align=dword\n.implicit_UNDEFINED_1 X offset=64 size=12"),
];
