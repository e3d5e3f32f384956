//! The codes of diagnostics: each has one meaning and one page, which `envisa explain CODE` shows.
//!
//! Codes start with E (error), W (warning), F (a fault of a kernel, or a finding of the checks) or V (a rule of the
//! verifier). The verifier has a table of its own rules, and `envisa-text` a table of the codes of its parser; this table has
//! all other codes.

/// A kind of diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeInfo {
    /// `E0301`.
    pub code: &'static str,
    /// One line.
    pub title: &'static str,
    /// What the diagnostic means and what to do about it.
    pub text: &'static str,
}

impl CodeInfo {
    /// Whether the code is an error (not a warning).
    pub fn is_error(&self) -> bool {
        !self.code.starts_with('W')
    }
}

const fn page(code: &'static str, title: &'static str, text: &'static str) -> CodeInfo {
    CodeInfo { code, title, text }
}

/// The codes of all crates except those of the text parser and the verifier, in their order.
pub const CODES: &[CodeInfo] = &[
    page(
        "E0001",
        "the text is not UTF-8",
        "vISA is written in ASCII; strings and comments may contain any UTF-8. The message marks the first byte that is not part of a valid character.",
    ),
    page(
        "E0700",
        "the kernel cannot be lowered",
        "The vISA is legal, but envisa cannot execute it. The message gives the reason. Often the specification does not define the meaning of an operand.",
    ),
    page(
        "E0800",
        "wrong usage, or a file could not be read or written",
        "Exit code 2. The message gives the reason; `envisa COMMAND --help` shows options, the forms of values and examples.",
    ),
    page(
        "E0801",
        "the command does not accept this kind of file",
        "envisa recognises files by their content, and by their name if the content is not enough: zebins are ELF files, CISA binaries start with `CISA`, vISA text has `.version`. Compile OpenCL C and SPIR-V first, with `envisa build`.",
    ),
    page(
        "E0803",
        "a job has an error",
        "The message points to the error. docs/GUIDE.md lists all keys of a job and the forms of values.",
    ),
    page(
        "E0804",
        "envisa does not support something that the kernel uses",
        "Exit code 3: no error is known in the kernel. The message names the missing feature. Images do not exist on pvc: its compiler leaves out accesses to images, so such a kernel would use uninitialised values.",
    ),
    page(
        "E0810",
        "the compiler failed",
        "`ocloc` crashed, or reported an error without a place in the source, or left calls of undefined functions in its output without an error. In the last case, a function is declared but not defined, or a library is missing.",
    ),
    page(
        "E0811",
        "the compiler reports an error in the source",
        "The message is that of Intel's compiler, at the place in the OpenCL C that it names.",
    ),
    page(
        "E0820",
        "the zebin is damaged",
        "The file is an ELF file with inconsistent tables or metadata. It is truncated, or it is not a zebin.",
    ),
    page(
        "E0821",
        "the zebin has no vISA text for a kernel",
        "Only zebins with vISA text can be shown, checked and run. Build one with `envisa build`, or with ocloc and `-internal_options \"-ze-emit-zebin-visa-sections\"`.",
    ),
    page(
        "E0830",
        "the module cannot be written as text",
        "The binary contains something that the text form cannot express.",
    ),
    page(
        "E0831",
        "the module cannot be written as a binary",
        "The text contains a value that the binary's fields cannot represent.",
    ),
    page("E0900", "not a CISA binary", "The file does not start with the letters `CISA`."),
    page("E0901", "unknown version of the binary format", "Versions 3.0 to 4.2 can be read."),
    page(
        "E0902",
        "the binary ends too early",
        "A field extends past the end of the file, or of the section that contains it. The file is truncated, or an offset in it is wrong.",
    ),
    page(
        "E0903",
        "a field has an illegal value",
        "The message names the field and the value. The file is damaged, or a newer tool wrote it.",
    ),
    page(
        "E0904",
        "the binary is inconsistent",
        "For instance, an operand refers to a variable, label or surface that is not declared.",
    ),
    page(
        "E0905",
        "an unknown opcode",
        "No instruction of this version has this opcode. Because the instruction's length is unknown, the rest cannot be read.",
    ),
    page(
        "E0906",
        "a string of the binary is not UTF-8",
        "Names of kernels, variables and labels must be UTF-8.",
    ),
    page("E0907", "parts of the binary overlap", "Two kernels or functions claim the same bytes."),
    page(
        "E0908",
        "the binary lacks operands",
        "The releases 1.0.12198.1 to 1.0.13064.3 of the reference compiler wrote such files: they left out the last operands of most instructions. `envisa dis --recover` shows the operands that the file has.",
    ),
    page("E0909", "the binary is too large", "Offsets in it have 32 bits."),
    page(
        "E0910",
        "the size of a register is unknown",
        "The binary contains the address of a variable with an offset, such as `&V32[640]`. It stores the offset as a number of registers and an element, and a register has 32 or 64 bytes, depending on the platform. Name the platform with `--platform`.",
    ),
    page(
        "W0600",
        "a comment allows a rule that does not exist",
        "`// envisa: allow(RULE)` names a rule by code or name; `envisa check --list` lists them.",
    ),
    page(
        "W0811",
        "the compiler reports a warning in the source",
        "The message is that of Intel's compiler, at the place in the OpenCL C that it names.",
    ),
    page(
        "W0820",
        "some metadata of the zebin was ignored",
        "A newer compiler wrote metadata that envisa does not know, or the metadata is damaged. The kernel runs, but the metadata that the message names has no effect.",
    ),
    page(
        "W0821",
        "not everything was checked",
        "The message says what was not checked, and why. If there are no findings, that part can still have bugs.",
    ),
    page(
        "W0822",
        "some of the kernel's printf output was lost",
        "The printf buffer has 4 MiB. When it is full, further output is dropped, as on the device. Output is also lost if a record in the buffer cannot be read, because the kernel overwrote it or printed a string at an invalid address.",
    ),
    page(
        "W0823",
        "accesses out of bounds were dropped",
        "The kernel read or wrote outside of a buffer's surface, of local memory, of scratch or of an image. The device drops such accesses silently. envisa drops them too, but counts them. The message shows the first; `--check` reports all of them, each with its place.",
    ),
    page(
        "W0824",
        "registers are read that nothing writes",
        "The compiled kernel reads registers that none of its instructions writes, and that are not inputs. Either the source uses a variable without a value, or the compiler forgot to compute one: compile it by another version, or with `-cl-opt-disable`, and compare (`envisa diff`).",
    ),
    page(
        "W0825",
        "the device has no images",
        "`pvc` has no images. Intel's compiler accepts a kernel that takes one and leaves out all accesses to it. `envisa run` refuses such a kernel (E0804). Compile it for another device.",
    ),
    page("F0000", "more findings than are shown", "`envisa run --json` lists all of them."),
    page(
        "F0001",
        "an access outside of every allocation",
        "The kernel reads or writes memory that belongs to no buffer. The message names the nearest buffer and its distance. If the address is right past the end of a buffer, an index is usually one too large, or the range is larger than the buffer. An address near zero is a null pointer.",
    ),
    page(
        "F0002",
        "a read of uninitialised registers",
        "With --check: a channel reads register bytes that no instruction of its thread has written. On a device, the registers contain values that an earlier thread left there. Often a variable is written under a condition and read without it.",
    ),
    page(
        "F0003",
        "channels of one store collide",
        "With --check: two channels of one instruction store different values to the same address, and it is undefined which value remains. Usually an index is not unique, although the author assumed so. Use atomics or a reduction instead.",
    ),
    page(
        "F0004",
        "a data race",
        "With --check: two threads access the same memory, at least one of them writes it, at least one access is not atomic, and nothing orders the two accesses. Within a group, a barrier is missing, or its flags name other memory: CLK_GLOBAL_MEM_FENCE does not order local memory, and a barrier without flags orders no memory. Atomics order other accesses only if a fence precedes one atomic and a fence follows the other (or with acquire and release). Between groups, only such atomics or separate launches order accesses; a fence with work-group scope after an atomic does not. An ordinary read of a value that other threads change with atomics is a race, too; read it with `atomic_load`, or with `atomic_or` and 0.",
    ),
    page(
        "F0005",
        "an access out of bounds",
        "With --check: the kernel reads or writes outside of a buffer's surface, of local memory or of the variable in it that it should access, of scratch or of an image. The device drops such accesses silently: reads return zero or other data, and writes are lost. Other devices and drivers behave differently. The message names the object that the kernel should access, and how far past its end the access is.",
    ),
    page(
        "F0006",
        "a use of uninitialised memory",
        "With --check: the kernel loads bytes of local memory, private memory or scratch that no work-item has written (or of a buffer that the host left unwritten: `--arg NAME=fresh:TYPE:N`), and something depends on them: arithmetic, an address, a branch, a result. A copy of such bytes is not a finding; a use of the copy is. On a device, the bytes contain data that was there before.",
    ),
    page(
        "F0007",
        "a barrier that not all work-items reach",
        "With --check: some work-items of a group reach a barrier and others do not: they have returned, took another branch, or wait at another barrier. The behaviour is undefined in OpenCL: devices hang, or let some work-items continue too early. Usually the barrier is inside an `if`, or follows a conditional `return`. The same holds for functions of a sub-group or group (`sub_group_reduce_add`, `sub_group_barrier`, `work_group_any`), which all of its work-items have to call: devices compute with those that are there. Shuffles and the functions of the extensions for some of the work-items (`sub_group_non_uniform_reduce_add`, `sub_group_ballot`) are exempt. For broadcasts, all of them have to name the same work-item.",
    ),
    page(
        "F0008",
        "a store to constant memory",
        "With --check: the kernel casts away `const` or `__constant`, and stores to a buffer that is passed as `__constant` or as a pointer to const. The compiler and the device may keep such data in caches that stores do not update.",
    ),
    page(
        "F0010",
        "a misaligned access",
        "The address is not a multiple of the alignment that the message's page requires. Devices fault, or ignore the low bits of the address.",
    ),
    page(
        "F0011",
        "an address register points outside of every variable",
        "Indirect operands read and write registers at the address in an address register. This address belongs to no variable.",
    ),
    page(
        "F0012",
        "calls nested too deep",
        "A recursion does not end, or needs more stack than a thread has.",
    ),
    page(
        "F0013",
        "an indirect call of something that is not a function",
        "The address is not that of a function of the module.",
    ),
    page(
        "F0014",
        "a jump table has no such entry",
        "The index of a `switchjmp` is larger than the last index of its table.",
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
        "A relocation refers to a symbol that the module does not define: an undefined function or variable, or one that the driver provides.",
    ),
    page(
        "F0018",
        "a barrier cannot complete",
        "Some threads of the group wait at the barrier, but others have ended. The barrier is under a condition that differs within the group. The message says where each thread is.",
    ),
    page(
        "F0019",
        "a write to read-only memory",
        "The allocation is read-only: it contains program-scope constants, or is a buffer that its owner made read-only.",
    ),
    page(
        "F0020",
        "the launch was cancelled",
        "The timeout, Ctrl-C or the program that started the launch cancelled it. The message says where the threads were. The kernel's output up to then is printed.",
    ),
    page(
        "F0021",
        "an integer divided by zero",
        "With --check-hints: a channel divides an integer by zero, or computes the remainder of such a division. OpenCL leaves the result undefined. In a build that was not made for the checks, it is not recognised on devices without an integer division (dg2, pvc): the compiler writes a sequence of other instructions there.",
    ),
    page(
        "F0022",
        "a shift by the width or more",
        "With --check-hints: the count of a shift is negative, or at least the number of bits. Devices use only the low bits of the count. OpenCL C defines shifts so, and its compiler masks the count explicitly (`and` with 31 or 63); therefore a kernel in OpenCL C never has this finding. SPIR-V, SYCL and C++ leave such shifts undefined.",
    ),
    page(
        "F0023",
        "a float that an integer cannot hold",
        "With --check-hints: a float is converted to an integer type that cannot represent its integral part, or the float is NaN. In OpenCL, the result is implementation-defined; devices saturate, or return the smallest number. `convert_int_sat` defines the result. If `sel`, `min` or `max` computed the source just before, the check assumes that the conversion saturates, and reports nothing.",
    ),
    page(
        "F0024",
        "a misaligned element",
        "The address of an element is not a multiple of what its type asks for. OpenCL leaves such an access undefined, and other devices fault, or ignore the low bits of the address. With --check, it is found where a pointer to a smaller type was cast (`*(global float4 *)(a + 1)`; `vload4` is defined there). With --check-hints, it is also found by the elements that vISA accesses. Then the finding can be false: the compiler accesses members of packed structures in the same way, and vISA does not distinguish the two.",
    ),
    page(
        "F0025",
        "an index past the end of an inner array or local variable",
        "With --check-hints: an index of an array in an array is past its end, and the outer indices are zero, as in `t[0][i]`: this is undefined, and often means all of `t`. Or: one instruction accesses two variables that the kernel declares in local memory. This happens if an index runs past the end of one variable into the next. The variables are known only if the kernel was compiled with -g. The finding can be false: an access through a pointer that may point to either variable looks the same.",
    ),
    page(
        "F0026",
        "misuse of an asynchronous copy",
        "With --check: `async_work_group_copy` begins a copy that all work-items of a group make together. All of them have to come to it, with the same arguments, and `wait_group_events` has to be called with its event before anybody accesses what it copies, and before the kernel ends. The message says which of these is not so: the copy is not waited for, its arguments differ between work-items (often an address that depends on the local id), or what is waited for is not the event of a copy of this group.",
    ),
    page(
        "F0027",
        "an image function that does not match the image's channel type",
        "With --check: a function for integers (`read_imagei`, `write_imageui`) is given an image whose channels are floats or normalised numbers, or `read_imagef` or `write_imagef` one whose channels are integers. OpenCL leaves the results undefined: devices take the bits as they are, or convert them. The type of the channels is that of the image that the host made. `read_imagei` and `write_imagei` are for channels with signs, `read_imageui` and `write_imageui` for those without. Which of the two a kernel calls is known from its source alone: of kernels that are given as SPIR-V it is not looked at.",
    ),
    page(
        "F0028",
        "signed integers that overflow",
        "With --check-hints: a sum, a difference or a product of signed integers (`int`, `long`) is beyond its type, or the least number is divided by -1. C leaves the result undefined (C99, 6.5): it wraps on all devices, but compilers assume that it does not happen, and may take `i + 1 > i` for true. Sums of `char` and `short` are computed as `int`. Unsigned integers wrap, and the compilers that envisa knows treat vectors alike; neither is reported. It is found in kernels that are compiled for the checks. Compute with `uint`, and convert the result.",
    ),
    page(
        "F0100",
        "an instruction that envisa does not execute",
        "Exit code 3: no error is known in the kernel. The message names the instruction. docs/COVERAGE.md lists the instructions that are executed.",
    ),
    page(
        "F0101",
        "the host has too little memory for the groups",
        "Shared local memory of the groups that run at once does not fit into the host's memory.",
    ),
];

/// The entry of a code of this table.
pub fn code(code: &str) -> Option<&'static CodeInfo> {
    CODES.iter().find(|c| c.code.eq_ignore_ascii_case(code))
}
