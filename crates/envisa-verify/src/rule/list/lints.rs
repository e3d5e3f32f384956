//! Lints: rules that follow data and control flow.

use super::rule;
use crate::Rule;

pub(crate) static LINTS: &[Rule] = &[
    rule!(READ_BEFORE_WRITE, "read-before-write", Warning, "4_visa_header", "A variable is written before it is read",
        "Variables, addresses and predicates have no value at the start, inputs and predefined ones aside; of the predefined ones a kernel has to initialise %arg, %retval, %sp and %fp. Reported where no write can come before the read on any path; the first such read of each variable.",
        bad ".decl X v_type=G type=ud num_elts=8 align=GRF\nmov (M1,8) Vd(0,0)<1> X(0,0)<8;8,1>" good ".decl X v_type=G type=ud num_elts=8 align=GRF\nmov (M1,8) X(0,0)<1> 0x1:ud\nmov (M1,8) Vd(0,0)<1> X(0,0)<8;8,1>", Flow),
    rule!(DEAD_WRITE, "dead-write", Warning, "", "A written value is read",
        "Reported if nothing reads a variable's value before the next write of the same bytes under the same mask, and if nothing reads an address or a predicate at all. Results of messages are not reported, because a message may be sent for its effect.",
        bad ".decl X v_type=G type=ud num_elts=8 align=GRF\nmov (M1,8) X(0,0)<1> 0x1:ud\nmov (M1,8) X(0,0)<1> 0x2:ud\nsvm_scatter.4.1 (M1,8) Vuq.0 X.0"
        good ".decl X v_type=G type=ud num_elts=8 align=GRF\nmov (M1,8) X(0,0)<1> 0x2:ud\nsvm_scatter.4.1 (M1,8) Vuq.0 X.0", Flow),
    rule!(UNREACHABLE, "unreachable", Warning, "", "Code can be reached",
        "No path leads from the start to these instructions. A lone return behind an endless loop is not reported.",
        bad "ret (M1_NM,1)\nbarrier" good "barrier", Flow),
    rule!(JUMP_OVER_JOIN, "jump-over-join", Warning, "3_execution_model", "A uniform jump passes no label where channels wait",
        "Channels that a GOTO has sent ahead wait at its label. A JMP that passes the label leaves them waiting.",
        bad "(P16) goto (M1,16) join\njmp (M1,1) end\njoin:\nbarrier\nend:" good "(P16) goto (M1,16) join\njmp (M1,1) join\njoin:", Flow),
    rule!(SCATTER_SAME_OFFSET, "scatter-same-offset", Warning, "SCATTER", "Channels of a scatter write to different places",
        "All offsets provably hold one value (computed from scalars in the same block), and the data do not: which channel wins is undefined.",
        bad ".decl X v_type=G type=ud num_elts=16 align=GRF\nmov (M1,16) X(0,0)<1> 0x40:ud\nscatter_scaled.4 (M1,16) T6 0x0:ud X.0 Vud.0" good ".decl X v_type=G type=ud num_elts=16 align=GRF\nmov (M1,1) X(0,0)<1> 0x40:ud\nscatter_scaled.4 (M1,1) T6 0x0:ud X.0 Vud.0", Flow),
    rule!(OUT_OF_BOUNDS, "out-of-bounds", Warning, "5_operands", "An access is inside its memory or variable",
        "Reported are constant offsets beyond the shared local memory that SLMSize gives (also if a move in the same block gives them to all channels), and indirect operands whose address, computed in the same block, lies outside their variable.",
        bad "addr_add (M1_NM,1) A0(0)<1> &Vud[0] 0x100:uw\nmov (M1,1) Vd(0,0)<1> r[A0(0),0]<0;1,0>:d" good "addr_add (M1_NM,1) A0(0)<1> &Vud[0] 0x10:uw\nmov (M1,1) Vd(0,0)<1> r[A0(0),0]<0;1,0>:d", Flow),
    rule!(SLM_WITHOUT_FENCE, "slm-without-fence", Warning, "FENCE", "Between writing shared local memory and a barrier stands a fence",
        "A barrier tells other threads that this one has arrived, not that its writes have. (The page of BARRIER promises ordering; hardware from ICLLP on wants the fence, and the reference compiler writes one. Earlier platforms are not reported.)",
        bad "scatter_scaled.4 (M1,16) %slm 0x0:ud Vud.0 Vud.64\nbarrier\ngather_scaled.4 (M1,16) %slm 0x0:ud Vud.0 Vud.64" good "scatter_scaled.4 (M1,16) %slm 0x0:ud Vud.0 Vud.64\nfence_local\nbarrier\ngather_scaled.4 (M1,16) %slm 0x0:ud Vud.0 Vud.64", Flow),
    rule!(UNUSED, "unused", Warning, "", "A declared variable is used",
        "There is one finding per object, for all variables, addresses and predicates that nothing uses. Surfaces and samplers may be declared for the runtime.",
        bad ".version 4.1\n.kernel \"k\"\n.decl X v_type=G type=ud num_elts=8 align=GRF\nret (M1_NM,1)\n" good ".version 4.1\n.kernel \"k\"\nret (M1_NM,1)\n", Flow),
    rule!(BARRIER_DIVERGED, "barrier-diverged", Warning, "BARRIER", "Barriers and motion estimation stand where all channels are together",
        "Their behaviour in divergent control flow is undefined. Reported between a predicated GOTO of several channels and its label, unless the predicate comes from comparisons of scalars only.",
        bad "(P16) goto (M1,16) join\nbarrier\njoin:" good "(P16) goto (M1,16) join\njoin:\nbarrier", Flow),
    rule!(INDIRECT_MISALIGNED, "indirect-misaligned", Warning, "5_operands", "An indirect operand is aligned to its type",
        "Reported where the address is made in the same block, of a variable whose own alignment is known.",
        bad "addr_add (M1_NM,1) A0(0)<1> &Vud[0] 0x2:uw\nmov (M1,1) Vd(0,0)<1> r[A0(0),0]<0;1,0>:d" good "addr_add (M1_NM,1) A0(0)<1> &Vud[0] 0x4:uw\nmov (M1,1) Vd(0,0)<1> r[A0(0),0]<0;1,0>:d", Flow),
    rule!(LIFETIME_OUTSIDE, "lifetime-outside", Warning, "LIFETIME", "A variable is not used after its lifetime",
        "Neither it nor an alias of it. Reported within a block, after `lifetime.end`.",
        bad "lifetime.end Vud\nmov (M1,8) Vd(0,0)<1> Vud(0,0)<8;8,1>" good "mov (M1,8) Vd(0,0)<1> Vud(0,0)<8;8,1>\nlifetime.end Vud", Flow),
    rule!(STATE_UNBOUND, "state-unbound", Warning, "4_visa_header", "A surface or sampler is an input, or assigned before it is used",
        "State variables are not created in a kernel: they come in, or MOVS gives them an index. Whoever launches the kernel may bind them by their declaration, so this is a warning.",
        bad "oword_ld (1) T6 0x0:ud Vud.0" good "movs (M1_NM,1) T6(0) 0x1:ud\noword_ld (1) T6 0x0:ud Vud.0", Flow),
];
