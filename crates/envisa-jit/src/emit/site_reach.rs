//! Which bytes the accesses of a message may reach, by its site.

use crate::context_layout::{Site, site};
use envisa_lower::{Message, Program};

use super::memory::{address_form, as_quads};
use crate::asm::Unsupported;

/// How far the accesses of a message reach from its site's pointer on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SiteReach {
    /// The site's field that says how many indices pass.
    pub count: u32,
    /// Bytes from one index to the next.
    pub scale: u32,
    /// Bytes from where an index leads.
    pub bytes: u32,
}

/// How far the accesses of a load or store reach; an error for those that the machine does.
pub(crate) fn site_reach(p: &Program, m: &Message) -> Result<SiteReach, Unsupported> {
    match m {
        Message::Simt(s) => {
            let s = as_quads(s);
            let bytes = (64 - s.elements.leading_zeros()) * u32::from(s.element);
            let form = address_form(p, &s)?;
            Ok(match form.wide {
                true => SiteReach { count: site::SPAN, scale: 1, bytes },
                false => SiteReach { count: site::COUNT, scale: form.scale, bytes },
            })
        }
        Message::Block(b) => Ok(SiteReach { count: site::WIDE, scale: 1, bytes: b.bytes }),
        _ => Err("a message that is no load or store"),
    }
}

impl SiteReach {
    /// The first byte and the one behind the last, as the host counts them, by what the site says now; `None`: none.
    pub fn bytes_of(self, s: &Site) -> Option<(u64, u64)> {
        let count = match self.count {
            site::COUNT => u64::from(s.count),
            site::SPAN => s.span,
            _ => s.wide,
        };
        let end = s.pointer.checked_add(count.checked_mul(self.scale.into())?)?;
        let last = end.checked_add(self.bytes.into())?.checked_sub(self.scale.into())?;
        (count != 0).then_some((s.pointer, last))
    }
}
