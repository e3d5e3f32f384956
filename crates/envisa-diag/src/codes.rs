//! The codes of diagnostics: each has one meaning and one page, which `envisa explain CODE` shows.
//!
//! Codes start with E (error), W (warning), F (what a kernel did) or V (a rule of the verifier, which has a table of its
//! own). The text's reader has the greatest part of the others, in a table of the same type; all other rooms' codes are
//! here.

/// A kind of diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeInfo {
    /// `E0301`.
    pub code: &'static str,
    /// One line.
    pub title: &'static str,
    /// What it is about and what to do.
    pub text: &'static str,
}

impl CodeInfo {
    /// An error, rather than a warning.
    pub fn is_error(&self) -> bool {
        !self.code.starts_with('W')
    }
}

const fn page(code: &'static str, title: &'static str, text: &'static str) -> CodeInfo {
    CodeInfo { code, title, text }
}

/// The codes of all rooms but the text's reader and the verifier, in their order.
pub const CODES: &[CodeInfo] = &[
    page(
        "E0001",
        "the text is not UTF-8",
        "vISA is written in ASCII; strings and comments may hold any UTF-8. The first byte that begins no character is marked.",
    ),
    page(
        "E0700",
        "the kernel cannot be lowered",
        "The vISA is legal, and still means nothing that can be run: the message says what. Often it is an operand whose meaning the specification leaves open.",
    ),
    page(
        "E0800",
        "wrong usage, or a file could not be read or written",
        "Exit code 2. The message says what; `envisa COMMAND --help` shows options, the forms of values and examples.",
    ),
    page(
        "E0801",
        "a file of a kind that the command does not take",
        "Files are told apart by their content, and by their name where that does not tell: zebins are ELF files, CISA binaries start with `CISA`, vISA text has `.version`. OpenCL C and SPIR-V are compiled first, by `envisa build`.",
    ),
    page(
        "E0803",
        "something in a job is wrong",
        "The message points to its place. docs/GUIDE.md lists all keys of a job and the forms of values.",
    ),
    page(
        "E0804",
        "envisa does not support what the kernel asks for",
        "Exit code 3: the kernel is sound, as far as is known; what is missing is named. Images do not exist on pvc: its compiler leaves accesses to them out, so that such a kernel would read what nobody wrote.",
    ),
    page(
        "E0810",
        "the compiler failed",
        "`ocloc` broke down or refused without saying where, or uses of undefined functions are left, which it lets pass. A function is declared and not defined, or a library is missing.",
    ),
    page(
        "E0811",
        "the compiler refuses the source",
        "What Intel's compiler says of the OpenCL C, at its place.",
    ),
    page(
        "E0820",
        "the zebin is damaged",
        "It is an ELF file whose tables or metadata do not hold together: cut short, or no zebin.",
    ),
    page(
        "E0821",
        "the zebin has no vISA text of a kernel",
        "Only zebins with vISA text can be shown, checked and run: `envisa build` makes such, or ocloc with `-internal_options \"-ze-emit-zebin-visa-sections\"`.",
    ),
    page("E0830", "the module cannot be written as text", "The binary holds what the text form cannot say."),
    page(
        "E0831",
        "the module cannot be written as a binary",
        "The text says what the binary's fields cannot hold.",
    ),
    page("E0900", "no CISA binary", "It does not start with the letters `CISA`."),
    page("E0901", "a version of the binary format that is not known", "Versions 3.0 to 4.2 can be read."),
    page(
        "E0902",
        "the binary ends too early",
        "A field reaches beyond the end of the file, or of the part that it belongs to: the file was cut short, or an offset in it is wrong.",
    ),
    page(
        "E0903",
        "a field has a value that it cannot have",
        "The message names the field and the value. Either the file is damaged, or a newer tool wrote it.",
    ),
    page(
        "E0904",
        "what the binary says does not hold together",
        "An operand names a variable, label or surface that is not declared, or the like.",
    ),
    page(
        "E0905",
        "an unknown opcode",
        "No instruction of this version has it; what follows cannot be read, since its length is unknown.",
    ),
    page("E0906", "a string of the binary is not UTF-8", "Names of kernels, variables and labels are UTF-8."),
    page("E0907", "parts of the binary overlap", "Two kernels or functions claim the same bytes."),
    page(
        "E0908",
        "the binary lacks operands",
        "The releases 1.0.12198.1 to 1.0.13064.3 of the reference compiler wrote such files: the last operands of most instructions were never written. `envisa dis --recover` shows what is left.",
    ),
    page("E0909", "the binary is too large", "Offsets in it have 32 bits."),
    page(
        "E0910",
        "the binary does not say how large a register is",
        "It has the address of a variable with an offset, such as `&V32[640]`. A binary writes such an offset as a number of registers and an element, and registers have 32 or 64 bytes by the platform. Name the platform with `--platform`.",
    ),
    page(
        "W0600",
        "a comment allows a rule that does not exist",
        "`// envisa: allow(RULE)` names a rule by code or name; `envisa check --list` lists them.",
    ),
    page(
        "W0811",
        "the compiler warns of the source",
        "What Intel's compiler says of the OpenCL C, at its place.",
    ),
    page(
        "W0820",
        "metadata of the zebin was ignored",
        "A newer compiler writes what is not known here, or it is damaged. The kernel runs; what the message names has no effect.",
    ),
    page(
        "W0821",
        "not everything was checked",
        "The message says what the checks did not look at, and why: no finding there means nothing.",
    ),
    page(
        "W0822",
        "some of what the kernel printed was lost",
        "Its printf buffer has 4 MiB: what is printed when it is full is dropped, as on the device. Or a record in it could not be read: the kernel overwrote it, or printed a string that is nowhere.",
    ),
    page(
        "W0823",
        "accesses out of bounds were dropped",
        "The kernel read or wrote outside of a buffer's surface, of local memory, of scratch or of an image. The device drops such accesses and says nothing, and so do they here, but counted. The message has the first; `--check` reports all, each with its place.",
    ),
    page(
        "W0824",
        "registers are read that nothing writes",
        "The compiled kernel reads registers that none of its instructions writes, and that are no inputs. Either the source uses a variable without a value, or the compiler forgot to compute one: compile it by another version, or with `-cl-opt-disable`, and compare (`envisa diff`).",
    ),
    page("F0000", "more findings than are shown", "`envisa run --json` lists all of them."),
    page(
        "F0001",
        "an access outside of every allocation",
        "The kernel reads or writes memory that belongs to no buffer. The message says which buffer is nearest and how far the address is from it: right past the end is mostly an index that is one too large or a range that is larger than the buffer; an address near zero is a null pointer.",
    ),
    page(
        "F0002",
        "a read of registers that nothing wrote",
        "With --check: a channel reads register bytes that no instruction of its thread has written. On a device they hold what the last thread left there. Often a variable is written under a condition and read without it.",
    ),
    page(
        "F0003",
        "channels of one store collide",
        "With --check: two channels store different values to one place; which one stays is undefined. An index is mostly not as unique as it was thought to be; atomics or a reduction help.",
    ),
    page(
        "F0004",
        "a data race",
        "With --check: two threads access one place, at least one of them changes it, not both by atomics, and nothing orders the two. Within a group a barrier is missing, or its flags name other memory: CLK_GLOBAL_MEM_FENCE does not order local memory, and no flag orders nothing. Atomics order other accesses only between a fence before the one and a fence after the other (or by acquire and release). Between groups only these or another launch order accesses; a fence of the group alone after an atomic orders nothing between groups. A plain read of what others change by atomics races, too: `atomic_load`, or `atomic_or` with 0, reads it soundly.",
    ),
    page(
        "F0005",
        "an access out of bounds",
        "With --check: the kernel reads or writes outside of a buffer's surface, of local memory or of the part of it that was meant, of scratch or of an image. The device drops such accesses silently: reads give zero or what happens to be there, writes are lost; another device or driver does something else. The message says what was meant and how far past its end the access is.",
    ),
    page(
        "F0006",
        "a use of memory that nothing wrote",
        "With --check: the kernel loads bytes of local memory, private memory or scratch that no work-item has written (or of a buffer that the host left unwritten: `--arg NAME=fresh:TYPE:N`), and something depends on them: arithmetic, an address, a branch, a result. Copies are followed and not complained of. On a device they hold what was there before.",
    ),
    page(
        "F0007",
        "a barrier that not all work-items come to",
        "With --check: some work-items of a group come to a barrier and others do not: they have returned, took another branch, or are at another barrier. OpenCL leaves undefined what happens; devices hang, or let some go on too early. Mostly `return` or `if` stands around a barrier.",
    ),
    page(
        "F0008",
        "a store to what is constant",
        "With --check: the kernel stores to a buffer that it was given as `__constant` or by a pointer to const, through a cast. The compiler and the device may keep such data in caches that no store reaches.",
    ),
    page(
        "F0010",
        "a misaligned access",
        "The address is not the multiple that the message's page demands. Devices fault, or drop its low bits.",
    ),
    page(
        "F0011",
        "an address register points outside of every variable",
        "Indirect operands read and write registers at the address that an address register holds: that is no variable's.",
    ),
    page("F0012", "calls nested too deep", "A recursion has no end, or needs more stack than a thread has."),
    page(
        "F0013",
        "an indirect call of what is no function",
        "The address is none of the module's functions.",
    ),
    page(
        "F0014",
        "a jump table has no such entry",
        "The index of a `switchjmp` is at least as large as its table.",
    ),
    page(
        "F0015",
        "the code ends without a return",
        "Control runs past the last instruction of a kernel or function.",
    ),
    page(
        "F0016",
        "a thread took more branches and calls than its limit allows",
        "`--limit N`, or `limit` in a job: a loop may have no end. The message points to where the thread was.",
    ),
    page(
        "F0017",
        "a symbol without an address",
        "A relocation names what the module does not define: an undefined function or variable, or one that the driver gives.",
    ),
    page(
        "F0018",
        "a barrier cannot complete",
        "Some threads of the group wait at it while others have ended: a barrier stands under a condition that is not the same for the whole group. The message says where each thread is.",
    ),
    page(
        "F0019",
        "a write to memory that is constant",
        "The allocation is read-only: program-scope constants, or a buffer that its owner made so.",
    ),
    page(
        "F0020",
        "the launch was cancelled",
        "By its timeout, by Ctrl-C or by the program that started it. The message says where threads were; what was printed is shown.",
    ),
    page(
        "F0021",
        "an integer divided by zero",
        "With --check-hints: a channel divides an integer by zero, or takes a remainder of it. OpenCL leaves the result undefined. Devices without a division of integers (dg2, pvc) are given a sequence of other instructions by the compiler, in which a division can no longer be seen.",
    ),
    page(
        "F0022",
        "a shift by the width or more",
        "With --check-hints: the count of a shift is negative, or at least the number of bits. Devices look at the low bits of the count alone. OpenCL C means just that, and its compiler writes it out (`and` with 31 or 63), so that no kernel in OpenCL C has this finding; SPIR-V, SYCL and C++ leave such shifts undefined.",
    ),
    page(
        "F0023",
        "a float that an integer cannot hold",
        "With --check-hints: a float is converted to an integer type that cannot hold its whole part, or is no number. OpenCL leaves the result to implementations; devices saturate or give the smallest number. `convert_int_sat` says what is meant. A conversion whose source was picked by `sel`, `min` or `max` just before is taken for one that saturates.",
    ),
    page(
        "F0024",
        "an element at an odd address",
        "With --check-hints: the address of an element is no multiple of its size. OpenCL leaves that undefined, and other devices fault, or drop the low bits of the address. The compiler accesses members of packed structures in the same way, where it is meant: vISA does not tell the two apart.",
    ),
    page(
        "F0025",
        "one instruction accesses two local variables",
        "With --check-hints: accesses of one instruction go to two variables that the kernel declares in local memory, as an index does that runs past the end of one into the next. Which variables there are is known of kernels that are compiled with -g. It may be meant: a pointer that is either of the two is accessed by one instruction, too.",
    ),
    page(
        "F0100",
        "an instruction that envisa does not execute",
        "Exit code 3: the kernel is sound, as far as is known; the message names what is missing. docs/COVERAGE.md lists what is executed.",
    ),
    page(
        "F0101",
        "the host has no memory for the groups",
        "Shared local memory of the groups that run at once does not fit into the host's memory.",
    ),
];

/// The entry of a code of this table.
pub fn code(code: &str) -> Option<&'static CodeInfo> {
    CODES.iter().find(|c| c.code.eq_ignore_ascii_case(code))
}
