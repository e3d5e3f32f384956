use super::super::{MAGIC, instruction};
use super::*;

const VOID: u32 = 1;
const INT: u32 = 2;
const LONG: u32 = 3;
const KIND: u32 = 20;
/// The execution model of kernels.
const KERNEL: u32 = 6;

fn module(body: &[Vec<u32>]) -> Vec<u8> {
    let mut words = vec![MAGIC, 0x1_0400, 0, 100, 0];
    words.extend(body.iter().flatten());
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// A kernel `f(global int *a, ulong i)` with `local int t[4][8]`, and this body.
fn kernel(inner: &[Vec<u32>]) -> Vec<u8> {
    let operands: Vec<u32> = [KERNEL, 40].into_iter().chain(string_operands("f")).collect();
    function(instruction(op::ENTRY_POINT, &operands), inner)
}

/// The same of a function that is a kernel if the entry point says so.
fn function(entry_point: Vec<u32>, inner: &[Vec<u32>]) -> Vec<u8> {
    let name = |id: u32, name: &str| {
        let operands: Vec<u32> = std::iter::once(id).chain(string_operands(name)).collect();
        instruction(op::NAME, &operands)
    };
    let mut body = vec![
        instruction(op::CAPABILITY, &[CAPABILITY_INT64]),
        entry_point,
        name(30, "f.t"),
        name(31, "a"),
        name(33, "sum"),
        instruction(op::TYPE_VOID, &[VOID]),
        instruction(op::TYPE_INT, &[INT, 32, 0]),
        instruction(op::TYPE_INT, &[LONG, 64, 0]),
        instruction(22, &[16, 32]),
        instruction(23, &[17, 16, 4]),
        instruction(op::CONSTANT, &[LONG, 4, 0, 0]),
        instruction(op::CONSTANT, &[LONG, 5, 8, 0]),
        instruction(op::CONSTANT, &[LONG, 6, 4, 0]),
        // int[8], int[4][8], and pointers.
        instruction(28, &[7, INT, 5]),
        instruction(28, &[8, 7, 6]),
        instruction(op::TYPE_POINTER, &[9, WORKGROUP, INT]),
        instruction(op::TYPE_POINTER, &[10, WORKGROUP, 7]),
        instruction(op::TYPE_POINTER, &[11, WORKGROUP, 8]),
        instruction(op::TYPE_POINTER, &[12, CROSS_WORKGROUP, INT]),
        instruction(op::TYPE_POINTER, &[13, CROSS_WORKGROUP, 17]),
        instruction(op::TYPE_POINTER, &[14, FUNCTION, INT]),
        instruction(op::TYPE_FUNCTION, &[KIND, VOID, 12, LONG]),
        instruction(59, &[11, 30, WORKGROUP]),
        instruction(op::FUNCTION, &[VOID, 40, 0, KIND]),
        instruction(op::FUNCTION_PARAMETER, &[12, 31]),
        instruction(op::FUNCTION_PARAMETER, &[LONG, 32]),
        instruction(op::LABEL, &[41]),
    ];
    body.extend(inner.iter().cloned());
    body.push(instruction(op::RETURN, &[]));
    body.push(instruction(op::FUNCTION_END, &[]));
    module(&body)
}

/// Without checks of arithmetic, which put calls everywhere.
fn with_checks(spirv: &[u8]) -> Option<Vec<u8>> {
    super::with_checks(spirv, &[], "", false)
}

/// What the calls report, as it is told: value, limit, what and text; without where variables in local memory are.
fn calls(spirv: &[u8]) -> Vec<(u32, u64, ReportHeader, String)> {
    let mut all = all_calls(spirv);
    all.retain(|c| c.2.kind != Kind::LocalVariable);
    all
}

fn all_calls(spirv: &[u8]) -> Vec<(u32, u64, ReportHeader, String)> {
    let changed = with_checks(spirv).expect("a module");
    let module = Rewriting::of(&changed).expect("it is still one");
    let types = Types::of(&module);
    let number = |id: u32| types.constant(id).unwrap_or(-1) as u64;
    let calls = module.all.iter().filter(|i| i.op == op::FUNCTION_CALL).map(|i| module.operands(i));
    calls
        .filter(|o| o.len() == 6 + check_reports::NAME_WORDS)
        .map(|o| {
            let words: Vec<u64> = o[6..].iter().map(|w| number(*w)).collect();
            let what = ReportHeader::unpack(number(o[5])).expect("a report");
            (o[3], number(o[4]), what, check_reports::name_from_words(&words))
        })
        .collect()
}

fn what(kind: Kind, does: ReportedAccess, bytes: u16, bound: u32) -> ReportHeader {
    ReportHeader { kind, does, bytes, bound }
}

#[test]
fn indices_are_held_against_their_arrays() {
    // t[i][i] = …, in two steps.
    let row = instruction(70, &[10, 50, 30, 4, 32]);
    let element = instruction(70, &[9, 51, 50, 4, 32]);
    let store = instruction(op::STORE, &[51, 4, ALIGNED, 4]);
    let found = calls(&kernel(&[row, element, store.clone()]));
    let index = |bound| what(Kind::Index, ReportedAccess::Writes, 4, bound);
    assert_eq!(found, [(32, 4, index(4), "t[]".to_owned()), (32, 8, index(8), "t[][]".to_owned())]);
    // t[0][i]: all of it may be meant. Twice, and told once.
    let element = instruction(70, &[9, 51, 30, 4, 4, 32]);
    let found = calls(&kernel(&[element, store.clone(), store.clone()]));
    assert_eq!(found, [(32, 8, what(Kind::FlatIndex, ReportedAccess::Writes, 4, 8), "t[][]".to_owned())]);
    // What is known to be inside is not looked at.
    assert_eq!(calls(&kernel(&[instruction(70, &[9, 51, 30, 4, 4, 6]), store])), []);
}

#[test]
fn offsets_are_held_against_variables() {
    // *(&t[0][0] + i)
    let first = instruction(70, &[9, 50, 30, 4, 4, 4]);
    let other = instruction(67, &[9, 51, 50, 32]);
    let found = calls(&kernel(&[first, other, instruction(op::LOAD, &[INT, 52, 51, ALIGNED, 4])]));
    let [(_, limit, told, text)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((*limit, text.as_str()), (4 * 4 * 8 - 3, "t[][][]"));
    assert_eq!(*told, what(Kind::Offset, ReportedAccess::Reads, 4, 4 * 4 * 8));
    // Of a buffer nothing is known.
    let element = instruction(67, &[12, 51, 31, 32]);
    assert_eq!(calls(&kernel(&[element, instruction(op::LOAD, &[INT, 52, 51])])), []);
}

#[test]
fn kernels_tell_where_variables_in_local_memory_are() {
    let first = instruction(70, &[9, 50, 30, 4, 4, 4]);
    let body = [first, instruction(op::LOAD, &[INT, 52, 50])];
    let found = all_calls(&kernel(&body));
    let [(_, _, told, text)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (*told, text.as_str()),
        (what(Kind::LocalVariable, ReportedAccess::Reads, 4, 4 * 4 * 8), "t[8]")
    );
    assert_eq!(all_calls(&function(Vec::new(), &body)), []);
}

#[test]
fn variables_that_may_have_no_value_tell_where_they_are() {
    let variable = instruction(59, &[14, 33, FUNCTION]);
    let (load, store) = (instruction(op::LOAD, &[INT, 51, 33]), instruction(op::STORE, &[33, 4]));
    let found = calls(&kernel(&[variable.clone(), load.clone(), store.clone()]));
    let [(_, limit, told, text)] = &found[..] else { panic!("{found:?}") };
    // Below no limit: it is told whatever the address is.
    assert_eq!((*limit, text.as_str()), (0, "sum"));
    assert_eq!(*told, what(Kind::Variable, ReportedAccess::Reads, 4, 4));
    assert_eq!(calls(&kernel(&[variable.clone(), store, load.clone()])), []);
    // The compiler's own do not: debug information names those of the source.
    let mut import = vec![80];
    import.extend(b"DebugInfo\0\0\0".chunks(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])));
    let import = instruction(11, &import);
    let declare = |of: u32| instruction(12, &[INT, 81, 80, 28, 82, of, 83]);
    let all = |of: u32| kernel(&[import.clone(), variable.clone(), declare(of), load.clone()]);
    assert_eq!((calls(&all(33)).len(), calls(&all(34)).len()), (1, 0));
}

#[test]
fn casts_are_held_against_alignment() {
    let element = instruction(67, &[12, 51, 31, 32]);
    let cast = instruction(124, &[13, 52, 51]);
    let load = |align| instruction(op::LOAD, &[17, 53, 52, ALIGNED, align]);
    let found = calls(&kernel(&[element.clone(), cast.clone(), load(16)]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].1, found[0].2), (1, what(Kind::Alignment, ReportedAccess::Reads, 16, 16)));
    // As `vload4` has it.
    assert_eq!(calls(&kernel(&[element.clone(), cast.clone(), load(4)])), []);
    // What a function is given may have been cast before.
    let found = calls(&function(Vec::new(), &[element, cast, load(4)]));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].1, found[0].2), (1, what(Kind::Alignment, ReportedAccess::Reads, 16, 4)));
}

#[test]
fn texts_tell_whether_types_ask_for_less() {
    let lowers = |text: &str| lowers_alignments(text.as_bytes());
    assert!(lowers("typedef float4 F __attribute__((aligned(4)));"));
    assert!(lowers("typedef float4 F __attribute__((__aligned__ ( 8 )));"));
    assert!(lowers("typedef float4 F __attribute__((aligned(N)));"));
    assert!(lowers("struct __attribute__((packed)) S { char c; int i; };"));
    assert!(!lowers("local float t[36] __attribute__((aligned(16))); // is aligned, (as it has to be)"));
    assert!(!lowers("kernel void k(global int *a) {}"));
}

#[test]
fn accesses_of_shared_memory_become_volatile() {
    let plain = instruction(op::LOAD, &[INT, 50, 31]);
    let aligned = instruction(op::STORE, &[31, 50, ALIGNED, 4]);
    let changed = with_checks(&kernel(&[plain, aligned])).expect("a module");
    let module = Rewriting::of(&changed).expect("it is still one");
    let of = |op, id| {
        let all = module.all.iter().filter(|i| i.op == op).map(|i| module.operands(i).to_vec());
        all.into_iter().find(|o| o[1] == id).expect("it is there")
    };
    assert_eq!(of(op::LOAD, 50), [INT, 50, 31, VOLATILE]);
    // All work-items store to one place: the compiler is not to know that.
    let store = of(op::STORE, 50);
    assert_eq!(store[1..], [50, VOLATILE | ALIGNED, 4]);
    let place = of(67, store[0]);
    assert_eq!(place[..3], [12, store[0], 31]);
    assert_eq!(of(op::LOAD, place[3])[3..], [VOLATILE | ALIGNED, 8]);
    assert!(module.all.iter().all(|i| i.op != op::FUNCTION_CALL), "nothing is known of its bounds");
}

#[test]
fn variables_stay_in_memory_unless_they_have_a_value() {
    const POINTER: u32 = 60;
    let mut before = vec![
        instruction(op::TYPE_POINTER, &[POINTER, FUNCTION, INT]),
        instruction(59, &[POINTER, 61, FUNCTION]),
        instruction(59, &[POINTER, 62, FUNCTION]),
    ];
    before.extend([
        instruction(op::STORE, &[61, 4]),
        // if (…) v = 5; of which 61 has a value in any case, and 62 has not.
        instruction(op::BRANCH_CONDITIONAL, &[32, 63, 64]),
        instruction(op::LABEL, &[63]),
        instruction(op::STORE, &[61, 5]),
        instruction(op::STORE, &[62, 5]),
        instruction(op::BRANCH, &[64]),
        instruction(op::LABEL, &[64]),
        instruction(op::LOAD, &[INT, 65, 61]),
        instruction(op::LOAD, &[INT, 66, 62]),
    ]);
    let changed = with_checks(&kernel(&before)).expect("a module");
    let module = Rewriting::of(&changed).expect("it is still one");
    let loads = module.all.iter().filter(|i| i.op == op::LOAD).map(|i| module.operands(i).to_vec());
    assert_eq!(loads.collect::<Vec<_>>(), [vec![INT, 65, 61], vec![INT, 66, 62, VOLATILE]]);
}

#[test]
fn copies_tell_where_they_begin_and_end() {
    const EVENT: u32 = 60;
    let (copy, wait) = (259, 260);
    let all = kernel(&[
        instruction(34, &[EVENT]),
        instruction(46, &[EVENT, 61]),
        instruction(op::TYPE_POINTER, &[62, FUNCTION, EVENT]),
        instruction(59, &[62, 63, FUNCTION]),
        instruction(op::CONSTANT, &[INT, 64, 2]),
        instruction(op::CONSTANT, &[INT, 65, 1]),
        instruction(copy, &[EVENT, 66, 64, 31, 31, 5, 4, 61]),
        instruction(op::STORE, &[63, 66]),
        instruction(wait, &[64, 65, 63]),
    ]);
    let told: Vec<Kind> = calls(&all).iter().map(|c| c.2.kind).collect();
    assert_eq!(told, [Kind::Copies, Kind::Waits]);
    let module = Rewriting::of(&with_checks(&all).expect("a module")).expect("it is still one");
    let find = |op, id| module.all.iter().any(|i| i.op == op && module.operands(i).contains(&id));
    assert!(find(op::TYPE_INT, EVENT) && !find(34, EVENT), "events are numbers");
    assert!(!find(wait, 63) && find(224, 64), "a wait is a barrier");
    assert!(find(169, 66) && !find(copy, 66), "the copy's event is chosen");
}

#[test]
fn damage_is_no_harm() {
    let all = kernel(&[
        instruction(70, &[10, 50, 30, 4, 32]),
        instruction(70, &[9, 51, 50, 4, 32]),
        instruction(op::STORE, &[51, 4, ALIGNED, 4]),
    ]);
    for n in 0..all.len() {
        let _ = with_checks(&all[..n]);
        let _ = super::with_checks(&all[..n], &[], "", true);
        for bit in [1, 0x80, 0xff] {
            let mut changed = all.clone();
            changed[n] ^= bit;
            let _ = with_checks(&changed);
            let _ = super::with_checks(&changed, &[], "", true);
        }
    }
    assert_eq!(with_checks(b"no module at all"), None);
    let long = format!("{}[]", "a".repeat(80));
    assert_eq!((shorten_text(&long).len(), shorten_text("t[]").as_str()), (32, "t[]"));
    assert!(shorten_text(&long).ends_with("aaa[]"));
}

/// The notes of a kernel with this body.
fn notes(body: &[Vec<u32>]) -> Vec<ReportHeader> {
    let changed = with_checks(&kernel(body)).expect("a module");
    let module = Rewriting::of(&changed).expect("it is still one");
    let types = Types::of(&module);
    let to = module.all.iter().filter(|i| i.op == op::CONVERT_U_TO_PTR).map(|i| module.operands(i));
    let to: Vec<u32> =
        to.filter(|o| types.constant(o[2]) == Some(check_reports::NOTE as i64)).map(|o| o[1]).collect();
    let stores = module.all.iter().filter(|i| i.op == op::STORE).map(|i| module.operands(i));
    let stores = stores.filter(|o| to.contains(&o[0]));
    stores.filter_map(|o| ReportHeader::unpack(types.constant(o[1])? as u64)).collect()
}

#[test]
fn atomics_of_64_bits_in_local_memory_are_noted() {
    let pointer = |class| instruction(op::TYPE_POINTER, &[60, class, LONG]);
    let add = instruction(234, &[LONG, 62, 61, 4, 4, 4]);
    let of = |class| notes(&[pointer(class), instruction(59, &[60, 61, class]), add.clone()]);
    let note = |kind| what(kind, ReportedAccess::Changes, 8, 0);
    assert_eq!(of(WORKGROUP), [note(Kind::Changes), note(Kind::Changed)]);
    assert_eq!(of(CROSS_WORKGROUP), [], "every device has these");
}

#[test]
fn stores_of_values_in_pieces_are_noted() {
    // char, char4, a variable of it, and the kernel's buffer as one of it.
    let mut body = vec![
        instruction(op::TYPE_INT, &[60, 8, 0]),
        instruction(23, &[61, 60, 4]),
        instruction(op::TYPE_POINTER, &[62, FUNCTION, 61]),
        instruction(op::TYPE_POINTER, &[63, CROSS_WORKGROUP, 61]),
        instruction(46, &[60, 64]),
        instruction(46, &[61, 65]),
        instruction(59, &[62, 66, FUNCTION]),
        instruction(124, &[63, 67, 31]),
    ];
    let whole = body.clone();
    let load = |id| instruction(op::LOAD, &[61, id, 66]);
    let store = |to, value| instruction(op::STORE, &[to, value]);
    // v.x = 0; *a = v;
    let set_first = [load(70), instruction(82, &[61, 71, 64, 70, 0]), store(66, 71), load(72), store(67, 72)];
    body.extend(set_first.iter().cloned());
    let note = |bytes| what(Kind::Whole, ReportedAccess::Writes, bytes, 0);
    assert_eq!(notes(&body), [note(4), note(0)]);
    // Of three components as four, the fourth does not count.
    body.pop();
    body.extend([instruction(79, &[61, 73, 72, 72, 0, 1, 2, u32::MAX]), store(67, 73)]);
    assert_eq!(notes(&body), [note(3), note(0)]);
    // char4 v = 0; v.x = 0; *a = v;
    let all = [whole, vec![store(66, 65)], set_first.to_vec()].concat();
    assert_eq!(notes(&all), []);
}

#[test]
fn barriers_of_sub_groups_are_noted() {
    // The scopes of a group and of a sub-group, and local memory.
    let number = |id, value| instruction(op::CONSTANT, &[INT, id, value]);
    let barrier = |scope| instruction(op::CONTROL_BARRIER, &[scope, scope, 62]);
    let notes = |scope| notes(&[number(60, 2), number(61, 3), number(62, 0x108), barrier(scope)]);
    assert_eq!(notes(61), [what(Kind::Together, ReportedAccess::Reads, 0, check_reports::LOCAL)]);
    assert_eq!(notes(60), []);
}

#[test]
fn fences_tell_whether_they_cover_images_where_these_are_read_back() {
    use check_reports::{ALONE, COVERS_BUFFERS, COVERS_IMAGES, IMAGES_APART};
    // Constants: a group's scope, and semantics of images, of buffers, of both.
    let constant = |id, value| instruction(op::CONSTANT, &[INT, id, value]);
    let mut body = vec![constant(60, 2), constant(61, 0x810), constant(62, 0x210), constant(63, 0xa10)];
    let fences = [
        instruction(op::CONTROL_BARRIER, &[60, 60, 62]),
        instruction(op::MEMORY_BARRIER, &[60, 61]),
        instruction(op::CONTROL_BARRIER, &[60, 60, 63]),
    ];
    let note = |bound| what(Kind::Fences, ReportedAccess::Reads, 0, bound);
    let image = |access| instruction(25, &[64, VOID, 1, 0, 0, 0, 0, 0, access]);
    body.extend(fences.clone());
    let (begins, ends) = (note(ALONE), note(0));
    body.insert(0, image(1));
    assert_eq!(notes(&body), [begins, ends], "nothing is read back");
    body[0] = image(2);
    let all = [COVERS_BUFFERS, ALONE | COVERS_IMAGES, COVERS_IMAGES | COVERS_BUFFERS];
    let all = all.into_iter().flat_map(|covers| [note(IMAGES_APART | covers), ends]);
    let expected: Vec<ReportHeader> = [note(IMAGES_APART), ends].into_iter().chain(all).collect();
    assert_eq!(notes(&body), expected);
}

#[test]
fn texels_are_held_against_the_channels_of_images() {
    // Nulls of int and of float4 in the place of texels, the parameter in that of the image.
    let null = |ty: u32, id: u32| instruction(46, &[ty, id]);
    let written = kernel(&[null(INT, 50), instruction(99, &[31, 5, 50])]);
    let found: Vec<_> =
        calls(&written).into_iter().map(|(_, limit, what, name)| (limit, what, name)).collect();
    assert_eq!(
        found,
        [(6, what(Kind::Texel, ReportedAccess::Writes, 0, check_reports::INTEGERS), "a".to_owned())]
    );
    // Once in a block.
    let read = instruction(98, &[17, 51, 31, 5]);
    let found: Vec<_> =
        calls(&kernel(&[read.clone(), read])).into_iter().map(|(_, l, what, _)| (l, what)).collect();
    assert_eq!(found, [(10, what(Kind::Texel, ReportedAccess::Reads, 0, 0))]);
    // Which type it is of nobody knows.
    assert!(calls(&kernel(&[instruction(99, &[31, 5, 60])])).is_empty());
}
