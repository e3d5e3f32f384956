//! Register file layout: every root variable gets a home of whole 64-byte chunks.

use envisa_isa::operation::{Compute, Operation};
use envisa_isa::{Object, Operand, Type, predefined};

use crate::program::*;

mod sharing;

pub(crate) use crate::registers::CHUNK;

/// Bytes that 16-bit addresses can name.
const ADDRESSABLE: u32 = 1 << 16;

/// Where one object's declarations are.
#[derive(Debug, Default)]
pub struct ObjectLayout {
    /// Offset of each declared general variable (aliases resolved), by index.
    pub vars: Vec<RegOffset>,
    /// Root of each declared variable: declared index, or predefined id with the top bit set.
    pub end_of_home: Vec<RegOffset>,
    /// First predicate (id 1).
    pub predicates: RegOffset,
    /// First address register.
    pub addresses: Vec<RegOffset>,
    /// States of surfaces, by declared index; predefined ones are in [`Layout`].
    pub surfaces: Vec<RegOffset>,
    /// States of samplers.
    pub samplers: Vec<RegOffset>,
    /// ObjectLayout, for reports.
    pub homes: Vec<VarHome>,
    /// Everything that is this object's alone.
    pub ranges: Vec<std::ops::Range<RegOffset>>,
}

/// The layout of a kernel with its functions.
#[derive(Debug, Default)]
pub struct Layout {
    /// Per object.
    pub objects: Vec<ObjectLayout>,
    /// Offsets and sizes of predefined variables.
    pub predefined: [RegOffset; 32],
    /// Bytes of their homes.
    pub predefined_bytes: [u32; 32],
    /// States of the predefined surfaces T0 to T5.
    pub predefined_surfaces: RegOffset,
    /// 32 dwords, for carries on their way; 0 if nothing makes any.
    pub carry: RegOffset,
    /// State of the bindless sampler S31.
    pub bindless_sampler: RegOffset,
    /// See [`Registers`].
    pub address_base: RegOffset,
    /// See [`Registers`].
    pub address_homes: Vec<(u32, u32)>,
    /// See [`Registers`].
    pub locals_start: RegOffset,
    /// One past the last variable.
    pub end: RegOffset,
}

/// How far an object's instructions reach into each root variable, and whose address they take.
struct Reach {
    /// Bytes, by declared index.
    vars: Vec<u32>,
    /// Bytes, by predefined id.
    predefined: [u32; 32],
    /// Address taken, by declared index.
    taken: Vec<bool>,
}

/// Bytes from the start of an operand that an instruction of 32 channels may touch, at most.
fn max_operand_bytes(ty: Type, region: envisa_isa::Region, channels: u32, is_dst: bool) -> u32 {
    let h = region.hstride().unwrap_or(if is_dst { 1 } else { 0 });
    let last = if is_dst {
        (channels - 1) * h.max(1)
    } else {
        let w = region.width().unwrap_or(1).max(1).min(channels);
        let v = region.vstride().unwrap_or(0);
        (channels / w).saturating_sub(1) * v + (w - 1) * h
    };
    (last + 1) * ty.size()
}

fn reach_of_variables(o: &Object, grf: u32) -> Reach {
    let mut r = Reach { vars: vec![0; o.vars.len()], predefined: [0; 32], taken: vec![false; o.vars.len()] };
    for inst in &o.insts {
        let desc = inst.desc();
        let ops = o.ops(inst);
        let channels = ops
            .iter()
            .find_map(|op| match op {
                Operand::Exec(e) if e.log2 <= 5 => Some(e.channels()),
                _ => None,
            })
            .unwrap_or(16);
        for (i, op) in ops.iter().enumerate() {
            let (var, end) = match op.handle().unwrap_or(*op) {
                Operand::General { var, row, col, region, .. } => {
                    let Some((ty, _)) = o.var_shape(var, grf) else { continue };
                    let dst = desc.slots.get(i).is_some_and(|s| {
                        matches!(s.role, envisa_isa::desc::Role::Write | envisa_isa::desc::Role::ReadWrite)
                    });
                    (
                        var,
                        row as u32 * grf
                            + col as u32 * ty.size()
                            + max_operand_bytes(ty, region, channels, dst),
                    )
                }
                // What a message moves beyond this is checked by its own lowering.
                Operand::Raw { var, offset } => (var, offset as u32 + 1),
                Operand::AddressOf { var, offset } => {
                    mark_taken(o, &mut r, var);
                    (var, offset as u32)
                }
                _ => continue,
            };
            // `&V` arrives as a general operand from a binary; there it is the first source of these.
            if desc.operation() == Operation::AddressAdd && i > 0 {
                mark_taken(o, &mut r, var);
            }
            note_reach(o, &mut r, var, end);
        }
    }
    r
}

fn mark_taken(o: &Object, r: &mut Reach, var: u32) {
    if let Some((root, _)) = o.root(var)
        && let Some(t) = root.checked_sub(predefined::FIRST_VAR).and_then(|i| r.taken.get_mut(i as usize))
    {
        *t = true;
    }
}

fn note_reach(o: &Object, r: &mut Reach, var: u32, end: u32) {
    let Some((root, offset)) = o.root(var) else { return };
    let end = end.saturating_add(offset);
    let slot = match root.checked_sub(predefined::FIRST_VAR) {
        Some(i) => r.vars.get_mut(i as usize),
        None => r.predefined.get_mut(root as usize),
    };
    if let Some(s) = slot {
        *s = (*s).max(end);
    }
}

/// Does it need a place of its own: for a second destination beside the first, for scales of matrices?
fn has_carry(operation: Operation) -> bool {
    use Operation::Systolic;
    matches!(operation, Operation::Compute(Compute::Addc | Compute::Subb) | Systolic { scaled: true, .. })
}

/// Hands out the register file, whole chunks at a time, refusing to grow past the limit.
struct Cursor(u32);

impl Cursor {
    fn take(&mut self, bytes: u32) -> Result<RegOffset, String> {
        let at = self.0;
        let bytes = bytes.max(1).checked_next_multiple_of(CHUNK).unwrap_or(u32::MAX);
        self.0 = at.checked_add(bytes).filter(|e| *e <= MAX_REGISTER_BYTES).ok_or_else(|| {
            format!("its variables take more than {} MiB of registers", MAX_REGISTER_BYTES >> 20)
        })?;
        Ok(at)
    }
}

/// Lays out the kernel (object 0 of the list) and its functions. `constants` is the size of the area of
/// immediates at the start; `message_reach(object, var)` adds what messages touch.
pub fn layout(
    objects: &[&Object],
    grf: u32,
    constants: u32,
    message_reach: &[Vec<(u32, u32)>],
) -> Result<Layout, String> {
    let mut l = Layout::default();
    let mut at = Cursor(constants.next_multiple_of(CHUNK));
    let mut reaches: Vec<Reach> = objects.iter().map(|o| reach_of_variables(o, grf)).collect();
    for ((o, r), messages) in objects.iter().zip(&mut reaches).zip(message_reach) {
        for (var, end) in messages {
            note_reach(o, r, *var, *end);
        }
    }

    place_states(&mut l, objects, &mut at)?;

    // What address registers can name: predefined variables, and those whose address is taken.
    l.address_base = at.0;
    predefined_vars(&mut l, objects, &reaches, grf, &mut at)?;
    let before = at.0;
    place_roots(&mut l, objects, &reaches, &mut at, |o, i| reaches[o].taken[i])?;
    if at.0 - l.address_base > ADDRESSABLE {
        share_registers(&mut l, objects, before, &mut at);
    }
    if at.0 - l.address_base > ADDRESSABLE {
        return Err("the variables whose address is taken exceed the 64 KiB an address can name".into());
    }
    address_homes(&mut l, at.0);

    // The kernel's other inputs, then everything else.
    for input in &objects[0].inputs {
        if input.kind & 7 == 0
            && let Some((root, _)) = objects[0].root(input.id)
            && let Some(i) = root.checked_sub(predefined::FIRST_VAR)
            && (i as usize) < objects[0].vars.len()
        {
            let i = i as usize;
            let end = input.size as u32 + objects[0].root(input.id).map_or(0, |r| r.1);
            place_root_variable(&mut l.objects[0], objects[0], i, reaches[0].vars[i].max(end), &mut at)?;
        }
    }
    l.locals_start = at.0;
    place_roots(&mut l, objects, &reaches, &mut at, |_, _| true)?;
    place_aliases(&mut l, objects)?;
    l.end = at.0;
    Ok(l)
}

/// Gives predicates, address registers and states their places.
fn place_states(l: &mut Layout, objects: &[&Object], at: &mut Cursor) -> Result<(), String> {
    l.predefined_surfaces = at.take(6 * 4)?;
    l.bindless_sampler = at.take(4)?;
    if objects.iter().any(|o| o.insts.iter().any(|i| has_carry(i.desc().operation()))) {
        l.carry = at.take(32 * 4)?;
    }
    for o in objects {
        let mut h = ObjectLayout::default();
        let start = at.0;
        h.predicates = at.take(o.predicates.len() as u32 * 4)?;
        for a in &o.addresses {
            h.addresses.push(at.take(2 * (a.elems as u32).max(32))?);
        }
        for s in &o.surfaces {
            h.surfaces.push(at.take(4 * s.elems.max(1) as u32)?);
        }
        for s in &o.samplers {
            h.samplers.push(at.take(4 * s.elems.max(1) as u32)?);
        }
        h.ranges.push(start..at.0);
        h.vars = vec![0; o.vars.len()];
        h.end_of_home = vec![0; o.vars.len()];
        l.objects.push(h);
    }
    Ok(())
}

/// Gives predefined variables their places, as large as they are touched.
fn predefined_vars(
    l: &mut Layout,
    objects: &[&Object],
    reaches: &[Reach],
    grf: u32,
    at: &mut Cursor,
) -> Result<(), String> {
    let mut unused: Option<RegOffset> = None;
    // Aliases keep a predefined variable even where only their own names are touched: their extents count
    // for the root, so only addresses taken remain.
    let taken: Vec<u32> = objects
        .iter()
        .flat_map(|o| {
            o.operands.iter().filter_map(move |op| match op {
                Operand::AddressOf { var, .. } => o.root(*var).map(|r| r.0),
                _ => None,
            })
        })
        .filter(|v| *v < predefined::FIRST_VAR)
        .collect();
    for (id, p) in predefined::VARS.iter().enumerate() {
        let (_, declared) = objects[0].var_shape(id as u32, grf).unwrap_or((p.ty, 4));
        // A null source reads zeros and a null destination is dropped: one chunk each way.
        let touched = reaches.iter().map(|r| r.predefined[id]).max().unwrap_or(0);
        // What nobody touches shares one chunk, except what a dispatch writes.
        let written = matches!(
            id as u32,
            predefined::var::NULL
                | predefined::var::R0
                | predefined::var::HW_ID
                | predefined::var::SR0
                | predefined::var::CR0
        );
        if touched == 0 && !written && !taken.contains(&(id as u32)) {
            let shared = match unused {
                Some(at) => at,
                None => at.take(CHUNK)?,
            };
            unused = Some(shared);
            l.predefined[id] = shared;
            l.predefined_bytes[id] = CHUNK;
            continue;
        }
        let bytes = if touched == 0 { CHUNK } else { declared.max(touched).max(CHUNK) };
        l.predefined[id] = at.take(bytes)?;
        l.predefined_bytes[id] = at.0 - l.predefined[id];
    }
    // Ids between the last predefined variable and the first declared one do not exist: they share %null.
    for id in predefined::VARS.len()..32 {
        l.predefined[id] = l.predefined[0];
        l.predefined_bytes[id] = l.predefined_bytes[0];
    }
    Ok(())
}

/// Gives those roots of each object their homes, by object and variable, that have none and that are `wanted`.
fn place_roots(
    l: &mut Layout,
    objects: &[&Object],
    reaches: &[Reach],
    at: &mut Cursor,
    wanted: impl Fn(usize, usize) -> bool,
) -> Result<(), String> {
    for (k, o) in objects.iter().enumerate() {
        let start = at.0;
        for (i, v) in o.vars.iter().enumerate() {
            if v.alias == 0 && wanted(k, i) {
                place_root_variable(&mut l.objects[k], o, i, reaches[k].vars[i], at)?;
            }
        }
        l.objects[k].ranges.push(start..at.0);
    }
    Ok(())
}

/// Puts variables whose address is taken, which have their places from `first` on, into places that they share, if that is possible.
fn share_registers(l: &mut Layout, objects: &[&Object], first: RegOffset, at: &mut Cursor) {
    let ([o], [h]) = (objects, &mut l.objects[..]) else { return };
    let index = |id: u32| (id - predefined::FIRST_VAR) as usize;
    let sizes: Vec<(usize, u32)> = h.homes.iter().map(|home| (index(home.id), home.bytes / CHUNK)).collect();
    let inputs: Vec<usize> = o
        .inputs
        .iter()
        .filter(|input| input.kind & 7 == 0)
        .filter_map(|input| o.root(input.id)?.0.checked_sub(predefined::FIRST_VAR))
        .map(|i| i as usize)
        .collect();
    let Some((places, chunks)) = sharing::shared_places(o, &sizes, &inputs) else { return };
    for (home, place) in h.homes.iter_mut().zip(places) {
        home.offset = first + place * CHUNK;
        h.vars[index(home.id)] = home.offset;
        h.end_of_home[index(home.id)] = home.offset + home.bytes;
    }
    at.0 = first + chunks * CHUNK;
    if let Some(range) = h.ranges.last_mut() {
        *range = first..at.0;
    }
}

/// Which variable each chunk belongs to that an address may name; of variables that share places, all of them together.
fn address_homes(l: &mut Layout, end: u32) {
    // Addresses name general registers, which the mode of the thread is none of.
    let general = |i: &usize| *i != predefined::var::CR0 as usize;
    let predefined = (0..predefined::VARS.len()).filter(general);
    let mut homes: Vec<(u32, u32)> = predefined.map(|i| (l.predefined[i], l.predefined_bytes[i])).collect();
    homes.extend(l.objects.iter().flat_map(|h| &h.homes).map(|h| (h.offset, h.bytes)));
    l.address_homes = vec![(0, 0); ((end - l.address_base) / CHUNK) as usize];
    // Predefined variables that nothing touches are in one place, and have one home.
    homes.sort_unstable();
    let mut apart: Vec<(u32, u32)> = Vec::new();
    for (start, bytes) in homes {
        match apart.last_mut() {
            Some((_, end)) if start < *end => *end = (start + bytes).max(*end),
            _ => apart.push((start, start + bytes)),
        }
    }
    for (start, end) in apart {
        let (s, e) = (start - l.address_base, end - l.address_base);
        for chunk in s / CHUNK..e / CHUNK {
            if let Some(h) = l.address_homes.get_mut(chunk as usize) {
                *h = (s, e);
            }
        }
    }
}

/// Gives aliases the homes of what they name.
fn place_aliases(l: &mut Layout, objects: &[&Object]) -> Result<(), String> {
    for (k, o) in objects.iter().enumerate() {
        for i in (0..o.vars.len()).filter(|&i| o.vars[i].alias != 0) {
            let id = i as u32 + predefined::FIRST_VAR;
            let (root, offset) = o.root(id).ok_or("an alias refers to no variable")?;
            let (start, end) = match root.checked_sub(predefined::FIRST_VAR) {
                Some(r) => (l.objects[k].vars[r as usize], l.objects[k].end_of_home[r as usize]),
                None => {
                    let at = l.predefined[root as usize];
                    (at, at + l.predefined_bytes[root as usize])
                }
            };
            l.objects[k].vars[i] = start.saturating_add(offset);
            l.objects[k].end_of_home[i] = end;
        }
    }
    Ok(())
}

/// Gives a root variable its home, once.
fn place_root_variable(
    h: &mut ObjectLayout,
    o: &Object,
    i: usize,
    touched: u32,
    at: &mut Cursor,
) -> Result<(), String> {
    if h.end_of_home[i] != 0 {
        return Ok(());
    }
    let declared = o.vars[i].bytes();
    h.vars[i] = at.take(declared.max(touched))?;
    h.end_of_home[i] = at.0;
    let id = i as u32 + predefined::FIRST_VAR;
    h.homes.push(VarHome {
        id,
        name: o.var_name(id).to_owned(),
        offset: h.vars[i],
        declared,
        bytes: at.0 - h.vars[i],
    });
    Ok(())
}
