//! Surfaces and samplers as addresses of states, in registers: from 4.2 on.

use envisa_isa::{HANDLES_SINCE, Operand, Region, Span};

use crate::names::{Class, Decl};
use crate::parser::{P, Parser};

impl<'s> Parser<'s> {
    /// A surface or sampler of a message; the reference takes one for the other, we do not.
    #[inline(always)]
    pub fn handle(&mut self, class: Class, address: bool, what: &'static str) -> P<(Operand, Span)> {
        self.skip_blanks();
        let start = self.pos;
        if address && self.peek() == b'(' {
            return self.indexed_state(what);
        }
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.missing_operand(what));
        }
        let decl = self.find_declaration(name, Some(class))?;
        let id = match decl.class {
            c if c == class => decl.id as u8,
            Class::Poison => 0,
            Class::General if address => return self.state_address(start, name, decl),
            _ => return Err(self.wrong_class(name, decl, class.describe())),
        };
        let op = if class == Class::Surface { Operand::Surface(id) } else { Operand::Sampler(id) };
        Ok((op, self.since(start)))
    }

    /// The rest of `V56`, or of `V56(0,0)<0;1,0>[3]`, which the reference prints of some messages.
    #[cold]
    fn state_address(&mut self, start: usize, name: &'s [u8], decl: Decl) -> P<(Operand, Span)> {
        self.address_version(start)?;
        // With a blank before it, a parenthesis starts the next operand.
        let (row, col, given) = if self.peek() == b'(' { self.row_col()? } else { (0, 0, false) };
        let mut index = 0;
        if given {
            let region = self.src_region(name, given)?;
            if region != Region::SCALAR {
                let span = self.since(start);
                let d = self
                    .diag_label("E0410", "the address of a state has a region", span, "expected `<0;1,0>`")
                    .note("one address serves all channels");
                return Err(self.report_and_give_up_line(d));
            }
            if self.eat_byte(b'[') {
                index = self.state_index()?;
                self.expect(b']')?;
            }
        }
        Ok((Operand::Handle { var: decl.id, row, col, index }, self.since(start)))
    }

    /// `(V56, 3)`: the state of that index from the address on.
    #[cold]
    fn indexed_state(&mut self, what: &'static str) -> P<(Operand, Span)> {
        let start = self.pos;
        self.address_version(start)?;
        self.expect(b'(')?;
        let name = self.var_name();
        if name.is_empty() {
            return Err(self.missing_operand(what));
        }
        let decl = self.find_declaration(name, Some(Class::General))?;
        let var = match decl.class {
            Class::General => decl.id,
            Class::Poison => 0,
            _ => return Err(self.wrong_class(name, decl, "a general variable")),
        };
        self.expect(b',')?;
        let index = self.state_index()?;
        self.expect(b')')?;
        Ok((Operand::Handle { var, row: 0, col: 0, index }, self.since(start)))
    }

    fn state_index(&mut self) -> P<u32> {
        self.skip_blanks();
        let start = self.pos;
        let value = self.expr()?;
        match u32::try_from(value) {
            Ok(index) => Ok(index),
            Err(_) => {
                let span = self.since(start);
                let d = self.diag_label(
                    "E0409",
                    format!("index {value} is out of range"),
                    span,
                    "must be 0 to 4294967295",
                );
                Err(self.report_and_give_up_line(d))
            }
        }
    }

    fn address_version(&mut self, start: usize) -> P<()> {
        if self.version >= HANDLES_SINCE {
            return Ok(());
        }
        let (major, minor) = HANDLES_SINCE;
        let span = Span::new(start as u32, self.pos.max(start + 1) as u32);
        let d = self
            .diag_label("E0303", "a register stands for a surface or sampler", span, "expected its name")
            .note(format!("addresses of states, in registers, came with version {major}.{minor}"));
        Err(self.report_and_give_up_line(d))
    }
}
