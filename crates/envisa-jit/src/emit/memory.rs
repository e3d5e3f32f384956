//! Messages: what their sites let pass is done here, all else by the machine.

use std::borrow::Cow;

use super::written_registers::Written;
use super::*;
use crate::affine_vectors::constant;
use crate::context_layout::{SITE, site};
use crate::multiples::Multiples;
use envisa_lower::{Extend, Message, Simt, Space};

/// How a message's indices become addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Form {
    /// Indices are shifted left by this before anything else.
    pub before: u32,
    /// Bits that count, of windows.
    pub and: Option<u32>,
    /// Indices are taken to have no others: what has is below no limit of a site.
    pub bare: bool,
    /// A scalar of the register file that is added to them after that, in 32 bits.
    pub added: Option<RegOffset>,
    /// What passed is multiplied by this.
    pub scale: u32,
    /// Indices are addresses of 64 bits.
    pub wide: bool,
    /// What is to be added to an index for its place in the memory, where that is known: its site says the opposite.
    pub plus: Option<u32>,
}

/// How a gather or scatter that native code does makes its addresses; `None` for those it does not do.
pub(crate) fn address_form(p: &Program, s: &Simt) -> Result<Form, Unsupported> {
    if s.upper || !matches!(s.stride, Src::None) || s.elements == 0 {
        return Err("a message of a rare kind");
    }
    if !s.scale.is_power_of_two() {
        return Err("a factor that is no power of two");
    }
    if !matches!(s.base, Src::None) && constant(p, &s.base).is_none() {
        return Err("a base that varies");
    }
    if s.align > s.element {
        return Err("an alignment of more than an element");
    }
    let shift = s.scale.trailing_zeros();
    let whole =
        Form { before: shift, and: None, bare: false, added: None, scale: 1, wide: false, plus: None };
    // Of memory that is a window, addresses are sums in 32 bits, of which the origin is one.
    let window = |and| Ok(Form { and, added: added_origin(&s.origin)?, ..whole });
    if s.address_bytes == 8 {
        return match s.space {
            Space::Flat if s.extend == Extend::None => Ok(Form { wide: true, ..whole }),
            _ => Err("64-bit addresses that are extended, or not of flat memory"),
        };
    }
    match s.space {
        Space::Flat if s.extend == Extend::None => Err("32-bit virtual addresses"),
        Space::Flat if s.scale <= MOST_SCALE => Ok(Form { before: 0, scale: s.scale, ..whole }),
        Space::Flat => Err("a large factor"),
        // A group's memory begins at its first byte, whichever group it is.
        Space::Slm if s.extend == Extend::None => {
            let base = constant(p, &s.base).unwrap_or(0) as u64;
            let plus = base.wrapping_mul(u64::from(s.scale)).wrapping_add(s.offset as u64) as u32;
            window(Some(0x0fff_ffff)).map(|f| Form { plus: Some(plus), ..f })
        }
        Space::Bti(_) | Space::GeneralState | Space::Scratch(_) if s.extend == Extend::None => window(None),
        _ => Err("another memory"),
    }
}

/// Pairs of dwords as the quads that they are where they are inside; all others as they are.
pub(crate) fn as_quads(s: &Simt) -> Cow<'_, Simt> {
    if !s.is_paired() {
        return Cow::Borrowed(s);
    }
    Cow::Owned(Simt { element: 8, elements: 1, ..s.clone() })
}

/// The largest factor of an index that is no address yet.
const MOST_SCALE: u32 = 1 << 16;

/// Where the dword is that an origin adds to addresses of 32 bits, if there is one.
fn added_origin(origin: &Src) -> Result<Option<RegOffset>, Unsupported> {
    match *origin {
        Src::None => Ok(None),
        Src::Reg { offset, ty, modifier: Modifier::None, .. } if ty.is_int() && ty.size() >= 4 => {
            Ok(Some(offset))
        }
        _ => Err("an origin of a rare kind"),
    }
}

impl Form {
    /// Bits that have to be left of indices before they are held against limits.
    fn cut(self) -> Option<u32> {
        self.and.filter(|_| !self.bare)
    }
}

impl Emit<'_> {
    /// May the number of a surface be another one from access to access?
    fn varies(&self, surface: &Src) -> bool {
        constant(self.p, surface).is_none() && !self.fixed(surface)
    }

    /// What the program writes.
    pub(super) fn written(&self) -> &Written {
        self.written.get_or_init(|| Written::new(self.p))
    }

    /// Is a quad made of dwords? CPUs give a load what is in one store; for what is in two, it waits until both have gone out.
    pub(super) fn made_of_dwords(&self, at: RegOffset) -> bool {
        [at, at + 4].into_iter().any(|at| self.written().dword(at))
    }

    /// Is a scalar what the launch put there, all along?
    fn fixed(&self, s: &Src) -> bool {
        let Src::Reg { offset, ty, constant, .. } = *s else { return false };
        if constant {
            return true;
        }
        let (start, end) = (offset, offset + ty.size());
        let inputs = self.p.inputs();
        let input = inputs.iter().any(|i| i.offset <= start && end <= i.offset + i.bytes.max(4));
        input && !self.written().writes_any(start, end)
    }
}

/// A half of a message's channels, and where they go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// All to one place; the offset from the site's pointer, unscaled, in a general register.
    Same(Register),
    /// One element after another, from there and so many bytes on.
    Row(Register, u32),
    /// The same of words that begin at one byte after another.
    Words(Register, u32),
    /// Anywhere: the offsets in a vector register.
    Any(V),
}

impl Way {
    /// The general register that a place is in.
    fn register(self) -> Option<Register> {
        match self {
            Way::Same(r) | Way::Row(r, _) | Way::Words(r, _) => Some(r),
            Way::Any(_) => None,
        }
    }
}

impl Form {
    /// How many bytes are from channel to channel where indices have this step.
    pub fn bytes(self, step: i32) -> u64 {
        u64::from(step.wrapping_shl(self.before) as u32) * u64::from(self.scale)
    }
}

/// Where a message's data is, if there is native code for messages of its shape and channels.
pub(super) fn simt_data(n: u32, s: &Simt) -> Result<RegOffset, Unsupported> {
    if !matches!(n, 1 | 2 | 4 | 8 | 16 | 32) {
        return Err("a message of few channels");
    }
    let Some(data) = s.data else { return Err("a prefetch") };
    if !matches!((s.element, s.slot), (4, 4) | (8, 8) | (1 | 2, 4)) {
        return Err("narrow elements side by side");
    }
    let count = s.elements.count_ones();
    if s.elements != (1 << count) - 1 && s.element != 4 {
        return Err("elements with gaps");
    }
    Ok(data)
}

/// How a message goes to channels that are so many bytes apart, if that is one row: that of the half which begins so
/// many channels behind the place in a register.
fn row(s: &Simt, bytes: u64, r: Register, behind: u32) -> Option<Way> {
    let plus = behind.wrapping_mul(bytes as u32);
    if s.elements == 1 && bytes == u64::from(s.element) {
        Some(Way::Row(r, plus))
    } else if (s.elements, s.element, bytes, s.write) == (1, 2, 1, false) && s.align <= 1 {
        Some(Way::Words(r, plus))
    } else {
        None
    }
}

/// A row some of whose elements are outside.
pub(crate) struct Edge {
    /// The half: which general register has the first element's offset.
    which: usize,
    w: Width,
    /// From one offset to the next.
    step: u32,
    /// How many pass.
    count: Mem,
    /// Channels that run, of the half, and of the one that goes on behind it.
    on: [Option<K>; 2],
    /// The site's pointer, and what offsets are multiplied by.
    pointer: Mem,
    scale: u32,
}

pub(super) const RA: [Register; 2] = [Register::RAX, Register::RDX];
const EA: [Register; 2] = [Register::EAX, Register::EDX];
/// The site's pointer.
pub(super) const PTR: Register = Register::RCX;
/// Channels of each half of a message.
pub(super) const ON: [K; 2] = [3, 4];

impl Emit<'_> {
    pub(super) fn message(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let i = *self.inst(pc);
        let m = self.p.messages().get(i.aux as usize).ok_or("a message")?;
        match m {
            Message::Simt(s) => self.simt(pc, &i, s),
            Message::Block(b) => self.block(pc, &i, b),
            Message::Atomic(a) => self.atomic(pc, &i, a),
            Message::Sample(s) => self.sample(pc, &i, s),
            Message::Typed(t) => self.typed(pc, &i, t),
            Message::Media(m) => self.media(&i, pc, m),
            _ => Err("a message of a rare kind"),
        }
    }

    /// The address of a symbol, which the context has; of one that is nowhere the machine says so.
    pub(super) fn address_of_symbol(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let i = self.inst(pc);
        let Dst::Reg { offset, ty: Type::Q | Type::Uq, sat: false, .. } = i.dst else {
            return Err("an address of few bits");
        };
        self.certain(pc)?;
        self.in_memory(offset, 8)?;
        let (entry, back) = (self.a.label(), self.a.label());
        let from = Mem::at(CTX, self.symbols_at() + 8 * i.aux);
        self.a.rm(Code::Mov_r64_rm64, Register::RAX, from);
        self.a.rr(Code::Test_rm64_r64, Register::RAX, Register::RAX);
        self.a.jump(Code::Je_rel32_64, entry);
        let to = self.reg(offset);
        self.a.mr(Code::Mov_rm64_r64, to, Register::RAX);
        self.a.bind(back);
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    pub(super) fn site(&self, i: &Inst, field: u32) -> Mem {
        Mem::at(SITES, i.aux * SITE + field)
    }

    pub(super) fn simt(&mut self, pc: Pc, i: &Inst, s: &Simt) -> Result<(), Unsupported> {
        let s = &as_quads(s);
        let form = address_form(self.p, s)?;
        let n = u32::from(i.channels);
        let form = Form { bare: self.bare(s, form, n), ..form };
        let data = simt_data(n, s)?;
        if matches!(n, 2 | 4) {
            return self.few_places(pc, i, s, form, data);
        }
        let parts = self.parts(i, 4)?;
        if n == 1 {
            self.certain(pc)?;
        }
        let (entry, back) = (self.a.label(), self.a.label());
        self.forget_rows(pc);
        self.key(pc, i, s, entry)?;
        self.sums_fit(pc, s, &parts, entry)?;
        // Where each half goes, and whether all of it is inside: before anything is done.
        let mut ways = Vec::new();
        let mut misses = false;
        // Offsets count from a multiple of the alignment.
        let mut align = u32::from(s.align) / form.scale;
        if self.aligned_already(s, form, (align, n), entry)? {
            align = 1;
        }
        if let Some(both) = self.way_of_both(pc, i, s, form, &parts, entry)? {
            if align > 1 {
                // The places of one register are apart by whole elements.
                let apart = both[0].register() != both[1].register();
                for (part, way) in parts.iter().zip(both).take(if apart { 2 } else { 1 }) {
                    self.aligned(pc, part, way, align, entry);
                }
            }
            ways.extend(both);
        }
        let (ahead, done) = (self.stream(pc).is_some(), self.a.label());
        let looked_at = ways.len();
        let mut led = None;
        if looked_at == 0 {
            self.access_row_cache(pc, i, s, form, &parts, (data, done), entry)?;
            led = self.take_by_scalar_index(pc, i, s, form, &parts, data, done)?;
            self.quads_at_sight(pc, i, s, form, (&parts, align), data, done)?;
        }
        let rows = match looked_at == 0 && !ahead {
            true => match self.by_steps(pc, i, s, form, &parts, align, data)? {
                None => self.both_rows(pc, i, s, form, &parts, align, data)?,
                stepped => stepped,
            },
            false => None,
        };
        for part in &parts[looked_at..] {
            ways.push(self.way(pc, i, s, form, part, entry, &mut misses)?);
        }
        let mut aside = match (ahead, form.wide) {
            (true, true) => None,
            (true, false) => {
                for (part, way) in parts.iter().zip(&ways) {
                    if let Way::Any(v) = way {
                        self.counting_bits(form, part, *v);
                    }
                }
                self.take_ahead(pc, i, form, align, &parts, &ways, (data, done), led)?
            }
            _ => rows,
        };
        for (part, way) in parts.iter().zip(&ways).skip(looked_at) {
            if let (Way::Any(v), false) = (way, form.wide) {
                self.outside(pc, i, s, form, part, *v);
            }
            if align > 1 {
                self.aligned(pc, part, *way, align, entry);
            }
        }
        if misses {
            let [a, b] = [parts.first(), parts.last()].map(|p| 5 + p.map_or(0, |p| p.index as K));
            self.a.kk(Code::VEX_Kortestw_kr_kr, a, b);
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        let missed = aside.is_some() && !ahead;
        let m = self.site(i, site::POINTER);
        self.a.rm(Code::Mov_r64_rm64, PTR, m);
        if ahead && form.wide {
            aside = self.take_ahead(pc, i, form, align, &parts, &ways, (data, done), None)?;
        }
        if !self.transfer_both(pc, i, s, form, &parts, &ways, data, done)? {
            for (part, way) in parts.iter().zip(&ways) {
                self.transfer(pc, i, s, form, part, (*way, missed), data)?;
            }
        }
        let mut ends = vec![done, back];
        if let Some(at) = aside {
            if self.looks_on(pc) {
                // Whatever was done here, and by whom.
                ends.drain(..).for_each(|l| self.a.bind(l));
                ends.push(self.a.label());
                self.look_for_next(s, &parts)?;
            }
            self.a.jmp(ends[0]);
            self.a.in_line(at);
        }
        ends.into_iter().for_each(|l| self.a.bind(l));
        self.later.push(Later::Miss { pc, entry, back });
        Ok(())
    }

    /// Are the indices of so many channels taken to have only bits that count?
    pub(super) fn bare(&self, s: &Simt, form: Form, channels: u32) -> bool {
        let tagged = |at: RegOffset| self.cells.at(at).is_some_and(|c| self.shapes.tagged(c));
        let indices = (s.address..s.address + 4 * channels).step_by(64);
        !indices.chain(form.added).any(tagged) && form.plus.is_none_or(|x| x >> 28 == 0)
    }

    /// Are places multiples of so much whatever the program is given? Of an origin that is looked at here.
    pub(super) fn aligned_already(
        &mut self,
        s: &Simt,
        form: Form,
        (align, channels): (u32, u32),
        entry: Label,
    ) -> Result<bool, Unsupported> {
        let base = constant(self.p, &s.base).unwrap_or(0) as u64;
        let plus = base.wrapping_mul(u64::from(s.scale)).wrapping_add(s.offset as u64);
        let windows = !form.wide && s.space != Space::Flat;
        if align <= 1 || !windows || plus % u64::from(align) != 0 {
            return Ok(align <= 1);
        }
        let zeros = |e: &Self, at: RegOffset, bytes: u32| {
            let all = e.multiples.get_or_init(|| Multiples::new(e.p, e.flow, e.cells, e.live));
            u32::from(all.bits(e.cells, at, bytes))
        };
        let bits = align.trailing_zeros();
        if form.before < bits && form.before + zeros(self, s.address, 4 * channels) < bits {
            return Ok(false);
        }
        if let Some(at) = form.added
            && zeros(self, at, 4) < bits
        {
            self.in_memory(at, 4)?;
            let origin = self.reg(at);
            self.a.mi(Code::Test_rm32_imm32, origin, align as i32 - 1);
            self.a.jump(Code::Jne_rel32_64, entry);
        }
        Ok(true)
    }

    /// An origin or a surface that may be another one than the site's is compared with it.
    pub(super) fn key(&mut self, _: Pc, i: &Inst, s: &Simt, entry: Label) -> Result<(), Unsupported> {
        match &s.space {
            Space::Flat => {}
            Space::Scratch(handle) => return self.scratch(i, handle, entry),
            Space::Bti(at) => return self.surface(i, at, entry),
            _ => return Ok(()),
        }
        let Src::Reg { offset, ty, .. } = s.origin else { return Ok(()) };
        if self.fixed(&s.origin) {
            return Ok(());
        }
        let (m, k) = (self.reg(offset), self.site(i, site::KEY));
        // The CPU gives a load what is in one store; for what is in two, it waits until they have gone out.
        if ty.size() == 8 {
            for half in [0, 4] {
                self.a.rm(Code::Mov_r32_rm32, Register::EAX, m.plus(half));
                self.a.rm(Code::Cmp_r32_rm32, Register::EAX, k.plus(half));
                self.a.jump(Code::Jne_rel32_64, entry);
            }
            return Ok(());
        }
        if ty.is_signed() {
            self.a.rm(Code::Movsxd_r64_rm32, Register::RAX, m);
        } else {
            self.a.rm(Code::Mov_r32_rm32, Register::EAX, m);
        }
        self.a.rm(Code::Cmp_r64_rm64, Register::RAX, k);
        self.a.jump(Code::Jne_rel32_64, entry);
        Ok(())
    }

    /// The number of a surface that varies is held against the site's.
    pub(super) fn surface(&mut self, i: &Inst, at: &Src, entry: Label) -> Result<(), Unsupported> {
        if !self.varies(at) {
            return Ok(());
        }
        if !matches!(at, Src::Reg { ty: Type::Ud, modifier: Modifier::None, .. }) {
            return Err("a surface of a rare kind");
        }
        self.load_int(at, [Register::EAX, Register::RAX], false, 0)?;
        let key = self.site(i, site::KEY);
        self.a.rm(Code::Cmp_r32_rm32, Register::EAX, key);
        self.a.jump(Code::Jne_rel32_64, entry);
        Ok(())
    }

    /// The handle of a scratch surface is held against that of the thread's own.
    pub(super) fn scratch(&mut self, i: &Inst, handle: &Src, entry: Label) -> Result<(), Unsupported> {
        self.load_int(handle, [Register::EAX, Register::RAX], false, 0)?;
        self.a.ri(Code::Shr_rm32_imm8, Register::EAX, 6);
        let key = self.site(i, site::KEY);
        self.a.rm(Code::Cmp_r32_rm32, Register::EAX, key);
        self.a.jump(Code::Jne_rel32_64, entry);
        Ok(())
    }

    /// The channels of a half that run, in `ON`; `None` if all do.
    pub(super) fn on(&mut self, pc: Pc, part: &Part) -> Result<Option<K>, Unsupported> {
        let i = self.inst(pc);
        let exec = !(i.no_mask || self.all_active(pc));
        if i.pred.offset == 0 && !exec {
            return Ok(None);
        }
        let k = ON[part.index as usize & 1];
        if let Some(e) = self.plain_exec(pc, part) {
            return Ok(Some(e));
        }
        if i.pred.offset != 0 {
            if i.pred.combine != Combine::None {
                return Err("a predicate of all channels");
            }
            self.pred(i.pred.offset, part, k)?;
            if i.pred.invert {
                self.a.kk(Code::VEX_Knotw_kr_kr, k, k);
            }
            if exec {
                let e = self.exec(part);
                self.a.kkk(Code::VEX_Kandw_kr_kr_kr, k, k, e);
            }
        } else {
            let e = self.exec(part);
            self.a.kkk(Code::VEX_Korw_kr_kr_kr, k, e, e);
        }
        if part.lanes == 8 {
            self.a.rri(Code::VEX_Kshiftlw_kr_kr_imm8, mask_register(k), mask_register(k), 8);
            self.a.rri(Code::VEX_Kshiftrw_kr_kr_imm8, mask_register(k), mask_register(k), 8);
        }
        Ok(Some(k))
    }

    /// The mask register that has just the channels of a half that run, if one does all the time.
    pub(super) fn plain_exec(&self, pc: Pc, part: &Part) -> Option<K> {
        let i = self.inst(pc);
        let whole = part.lanes == 16 && part.channel.is_multiple_of(16);
        let exec = i.pred.offset == 0 && !i.no_mask && !self.all_active(pc);
        (whole && exec).then_some(EXEC[(part.channel / 16) as usize & 1])
    }

    /// Where a part goes. Places of channels that may go anywhere have bits still that do not count, and are still to be held
    /// against the site, by [`Self::outside`], but for those of quads.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn way(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        part: &Part,
        entry: Label,
        misses: &mut bool,
    ) -> Result<Way, Unsupported> {
        if form.wide {
            return self.way_of_quads(pc, i, s, form, part, entry, misses);
        }
        let at = s.address + 4 * part.lane;
        let which = part.index as usize;
        let w = part.width;
        let on = self.on(pc, part)?;
        let step = self.step(at).map(|x| form.bytes(x));
        let row = step.and_then(|x| row(s, x, RA[which], 0));
        let row = row.filter(|r| part.lanes == 16 || matches!(r, Way::Row(..)));
        // If only the first channel may run, all go where that does.
        let alone = self.runs_alone(i, part) && self.first_at_hand(at, 4, part);
        let row = row.filter(|_| !alone);
        if part.lanes == 1 || step == Some(0) || row.is_some() || alone {
            // By the first channel.
            match self.home_alone(at, 4 * part.lanes) {
                Some(v) if part.lanes > 1 => {
                    self.a.rr(Code::EVEX_Vmovd_rm32_xmm, EA[which], vector_register(v, Width::X))
                }
                _ => {
                    let first = self.first(at).unwrap_or(First { at, plus: 0, step: 0 });
                    self.a.rm(Code::Mov_r32_rm32, EA[which], self.reg(first.at));
                    if first.plus != 0 {
                        self.a.ri(Code::Add_rm32_imm32, EA[which], first.plus);
                    }
                }
            }
            self.offset(i, form, EA[which])?;
            let limit = match (row.is_some(), part.lanes) {
                (true, 8) => site::LAST,
                (true, _) => site::LAST16,
                _ => site::COUNT,
            };
            let limit = self.site(i, limit);
            self.a.rm(Code::Cmp_r32_rm32, EA[which], limit);
            match on {
                // Of a row that is not all inside, the channels that are on may be.
                Some(on) if row.is_some() => {
                    let (edge, back) = (self.a.label(), self.a.label());
                    self.a.jump(Code::Jae_rel32_64, edge);
                    self.a.bind(back);
                    let step = step.unwrap_or(0) as u32 / form.scale;
                    let count = self.site(i, site::COUNT);
                    let (pointer, scale) = (self.site(i, site::POINTER), form.scale);
                    let place = Edge { which, w, step, count, on: [Some(on), None], pointer, scale };
                    self.later.push(Later::Edge { place, entry: edge, back, miss: entry });
                }
                _ => self.a.jump(Code::Jae_rel32_64, entry),
            }
            return Ok(row.unwrap_or(Way::Same(RA[which])));
        }
        let (v, index) = (6 + part.index as V, self.indices(s, part)?);
        let mut from = index;
        if form.before != 0 {
            self.a.v2i(VPSLLD, w, v, Opd::Reg(from), form.before, Lanes::All);
            from = v;
        }
        if let Some(at) = form.added {
            self.in_memory(at, 4)?;
            let origin = self.reg(at);
            self.a.v3(VPADDD, w, v, from, Opd::Bcast(origin), Lanes::All);
            from = v;
        }
        if form.plus != Some(0) {
            let low = self.site(i, site::LOW);
            self.a.v3(VPSUBD, w, v, from, Opd::Bcast(low), Lanes::All);
            from = v;
        }
        self.copy_reg(v, from, w);
        *misses = true;
        Ok(Way::Any(v))
    }

    /// The indices of a half, in a register: their own, or the one that its places are made in, 6 or 7.
    pub(super) fn indices(&mut self, s: &Simt, part: &Part) -> Result<V, Unsupported> {
        self.vector_at(s.address + 4 * part.lane, part, 6 + part.index as V)
    }

    /// The dwords of a half, in a register: their own, or this one.
    pub(super) fn vector_at(&mut self, at: RegOffset, part: &Part, v: V) -> Result<V, Unsupported> {
        let w = part.width;
        if let Some(r) = self.home(at, 4 * part.lanes) {
            return Ok(r);
        }
        if let Some(twin) = self.twin(at) {
            let from = self.of_twin(twin, v);
            return Ok(self.whole_in_register(from, v));
        }
        if let Some(first) = self.first(at) {
            self.spread(v, w, first);
        } else {
            self.in_memory(at, 4 * part.lanes)?;
            self.a.v2(VMOVDQU32, w, v, Opd::Mem(self.reg(at)), Lanes::All);
        }
        Ok(v)
    }

    /// Is nothing known of where a half goes?
    pub(super) fn goes_anywhere(&self, i: &Inst, s: &Simt, form: Form, part: &Part) -> bool {
        let at = s.address + 4 * part.lane;
        let step = self.step(at).map(|x| form.bytes(x));
        let known = step.is_some_and(|x| x == 0 || row(s, x, RA[0], 0).is_some());
        part.lanes > 1 && !known && !self.runs_alone(i, part)
    }

    /// Leaves the bits that count of places, which [`Self::way`] put into a register of their own.
    pub(super) fn counting_bits(&mut self, form: Form, part: &Part, v: V) {
        if let Some(and) = form.cut() {
            let and = self.literal(and);
            self.a.v3(VPANDD, part.width, v, v, Opd::Bcast(and), Lanes::All);
        }
    }

    /// Which channels of a half that go anywhere are outside, in a mask of the half's own; leaves the bits of their places
    /// that count.
    pub(super) fn outside(&mut self, pc: Pc, i: &Inst, s: &Simt, form: Form, part: &Part, v: V) {
        self.counting_bits(form, part, v);
        let on = self.transfer_mask(pc, part);
        let limit = self.site(i, if s.element < 4 { site::COUNT4 } else { site::COUNT });
        self.a.vcmp(VPCMPUD, part.width, 5 + part.index as u8, v, Opd::Bcast(limit), 5, on);
    }

    /// Is the first of a part's elements of so many bytes in a register of its own, or in its place?
    pub(super) fn first_at_hand(&self, at: RegOffset, bytes: u32, part: &Part) -> bool {
        let all = (bytes * part.lanes).min(64);
        self.home_alone(at, all).is_some() || self.first(at).is_some() || self.in_memory(at, all).is_ok()
    }

    /// Two halves of which the second's first place is known by the first's are looked at as one; `None` of others.
    pub(super) fn way_of_both(
        &mut self,
        pc: Pc,
        i: &Inst,
        s: &Simt,
        form: Form,
        parts: &[Part],
        entry: Label,
    ) -> Result<Option<[Way; 2]>, Unsupported> {
        let &[a, b] = parts else { return Ok(None) };
        let second = self.cells.at(s.address + 64).and_then(|c| self.shapes.after(c));
        let Some((_, jump)) = second.filter(|(c, _)| !form.wide && self.cells.at(s.address) == Some(*c))
        else {
            return Ok(None);
        };
        let Some(first) = self.first(s.address) else { return Ok(None) };
        let step = form.bytes(first.step);
        let low = row(s, step, RA[0], 0);
        if step != 0 && low.is_none() {
            return Ok(None);
        }
        let on = [self.on(pc, &a)?, self.on(pc, &b)?];
        let m = self.reg(first.at);
        self.a.rm(Code::Mov_r32_rm32, EA[0], m);
        self.offset(i, form, EA[0])?;
        let all = on == [None; 2];
        let one_row = low.is_some() && jump == first.step.wrapping_mul(16);
        let one_place = jump == 0 && all;
        if !one_row && !one_place {
            return self.ways_apart(i, s, form, [&a, &b], (first.step, jump), on, entry).map(Some);
        }
        let limit = match (one_row && jump != 0, low.is_some()) {
            (true, _) => site::LAST,
            (_, true) => site::LAST16,
            _ => site::COUNT,
        };
        let limit = self.site(i, limit);
        self.a.rm(Code::Cmp_r32_rm32, EA[0], limit);
        let Some(low) = low else {
            self.a.jump(Code::Jae_rel32_64, entry);
            return Ok(Some([Way::Same(RA[0]); 2]));
        };
        if on[0].is_some() && on[1].is_some() {
            let (edge, back) = (self.a.label(), self.a.label());
            self.a.jump(Code::Jae_rel32_64, edge);
            self.a.bind(back);
            let (step, count) = (step as u32 / form.scale, self.site(i, site::COUNT));
            let (pointer, scale) = (self.site(i, site::POINTER), form.scale);
            let place = Edge { which: 0, w: a.width, step, count, on, pointer, scale };
            self.later.push(Later::Edge { place, entry: edge, back, miss: entry });
        } else {
            self.a.jump(Code::Jae_rel32_64, entry);
        }
        let high = if one_row { row(s, step, RA[0], 16) } else { Some(low) };
        Ok(Some([low, high.ok_or("a row")?]))
    }

    /// Halves, each one row or one place, that are so far apart: `eax` has the first one's offset.
    #[allow(clippy::too_many_arguments)]
    fn ways_apart(
        &mut self,
        i: &Inst,
        s: &Simt,
        form: Form,
        parts: [&Part; 2],
        (step, jump): (i32, i32),
        on: [Option<K>; 2],
        entry: Label,
    ) -> Result<[Way; 2], Unsupported> {
        let apart = jump.wrapping_shl(form.before);
        let bytes = form.bytes(step);
        let rows = [row(s, bytes, RA[0], 0), row(s, bytes, RA[1], 0)];
        let limit = self.site(i, if rows[0].is_some() { site::LAST16 } else { site::COUNT });
        // Where the window has a limit, what is below the second place's is below that of the first.
        let one = apart > 0 && form.cut().is_some() && on == [None; 2];
        self.a.rr(Code::Mov_r32_rm32, EA[1], EA[0]);
        if apart != 0 {
            self.a.ri(Code::Add_rm32_imm32, EA[1], apart);
        }
        if let Some(and) = form.cut().filter(|_| !one) {
            self.a.ri(Code::And_rm32_imm32, EA[1], and as i32);
        }
        for which in if one { 1..2 } else { 0..2 } {
            self.a.rm(Code::Cmp_r32_rm32, EA[which], limit);
            match on[which] {
                Some(on) if rows[0].is_some() => {
                    let (edge, back) = (self.a.label(), self.a.label());
                    self.a.jump(Code::Jae_rel32_64, edge);
                    self.a.bind(back);
                    let (step, count) = (bytes as u32 / form.scale, self.site(i, site::COUNT));
                    let (w, on) = (parts[which].width, [Some(on), None]);
                    let (pointer, scale) = (self.site(i, site::POINTER), form.scale);
                    let place = Edge { which, w, step, count, on, pointer, scale };
                    self.later.push(Later::Edge { place, entry: edge, back, miss: entry });
                }
                _ => self.a.jump(Code::Jae_rel32_64, entry),
            }
        }
        Ok([0, 1].map(|k| rows[k].unwrap_or(Way::Same(RA[k]))))
    }

    /// From an index to what is held against a site's limits.
    pub(super) fn offset(&mut self, i: &Inst, form: Form, r: Register) -> Result<(), Unsupported> {
        if form.before != 0 {
            self.a.ri(Code::Shl_rm32_imm8, r, form.before as i32);
        }
        if let Some(at) = form.added {
            self.in_memory(at, 4)?;
            let origin = self.reg(at);
            self.a.rm(Code::Add_r32_rm32, r, origin);
        }
        match form.plus {
            Some(0) => {}
            Some(x) => self.a.ri(Code::Add_rm32_imm32, r, x as i32),
            None => {
                let low = self.site(i, site::LOW);
                self.a.rm(Code::Sub_r32_rm32, r, low);
            }
        }
        if let Some(and) = form.cut() {
            self.a.ri(Code::And_rm32_imm32, r, and as i32);
        }
        Ok(())
    }

    /// A row was found not to be all inside: it goes on at `back` if what is outside is of channels that are off, else at
    /// `miss`.
    ///
    /// If no channel is on, what is moved is nothing of no matter where; but a CPU takes hundreds of cycles to find that
    /// out where no memory is, as at a site that has led nowhere yet. So that goes to where calls keep vectors.
    pub(super) fn edge(&mut self, place: &Edge, back: Label, miss: Label) {
        let Edge { which, w, step, count, on, pointer, scale } = *place;
        let spread = SPREAD[w as usize];
        for (half, on) in on.into_iter().enumerate().filter(|(_, on)| on.is_some()) {
            self.a.rr(spread, vector_register(0, w), EA[which]);
            self.ramp(0, w, (16 * step) as i32 * half as i32, step as i32);
            self.a.vcmp(VPCMPUD, w, MASK, 0, Opd::Bcast(count), 5, on);
            self.a.kk(Code::VEX_Kortestw_kr_kr, MASK, MASK);
            self.a.jump(Code::Jne_rel32_64, miss);
        }
        // The first one's place may be below all others.
        self.a.rr(Code::Movsxd_r64_rm32, RA[which], EA[which]);
        if let (Some(a), true) = (on[0], scale <= 8) {
            self.a.kk(Code::VEX_Kortestw_kr_kr, a, on[1].unwrap_or(a));
            self.a.jump(Code::Jne_rel32_64, back);
            let r = RA[which];
            self.a.rr(Code::Mov_r64_rm64, r, CTX);
            self.a.ri(Code::Add_rm64_imm32, r, (at::VECTORS + 64) as i32);
            self.a.rm(Code::Sub_r64_rm64, r, pointer);
            // A multiple of the alignment, too.
            self.a.ri(Code::And_rm64_imm32, r, -64);
            if scale > 1 {
                self.a.ri(Code::Sar_rm64_imm8, r, scale.trailing_zeros() as i32);
            }
        }
        self.a.jmp(back);
    }
}
