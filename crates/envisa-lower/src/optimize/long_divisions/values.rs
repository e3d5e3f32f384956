//! What a round of a loop computes, as expressions of dwords: every quad is two of them, its low and its high half. Equal
//! expressions have equal numbers, and what compilers write in several ways is one expression.

use std::collections::HashMap;

use crate::program::RegOffset;

/// An expression's number.
pub(super) type Id = u32;
/// The low and the high half of a quad.
pub(super) type Quad = [Id; 2];

/// A dword of each channel: the first one's first byte, and bytes from channel to channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub offset: RegOffset,
    pub step: u32,
}

/// Which half of a quad: 0 is the low one.
type Half = u8;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Value {
    Constant(u32),
    /// What is there as the round begins.
    Start(Place),
    And(Id, Id),
    Or(Id, Id),
    /// A half of `x << 1`.
    Double(Half, Quad),
    /// A half of `x >> k`, without a sign.
    Shifted(Half, Quad, Quad),
    /// A half of `1 << k`.
    Power(Half, Quad),
    /// A half of `x - y`.
    Difference(Half, Quad, Quad),
    /// Predicates: `x < y` of quads and of dwords, both without a sign, `x == 0`, and what is made of predicates.
    Less(Quad, Quad),
    LessDword(Id, Id),
    IsZero(Id),
    Both(Id, Id),
    Not(Id),
    /// The first where a predicate holds, else the second.
    Choice(Id, Id, Id),
}

#[derive(Default)]
pub(super) struct Values {
    all: Vec<Value>,
    ids: HashMap<Value, Id>,
}

impl Values {
    pub fn get(&self, id: Id) -> Value {
        self.all[id as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = Value> {
        self.all.iter().copied()
    }

    fn id(&mut self, v: Value) -> Id {
        *self.ids.entry(v).or_insert_with(|| {
            self.all.push(v);
            self.all.len() as Id - 1
        })
    }

    pub fn constant(&mut self, x: u32) -> Id {
        self.id(Value::Constant(x))
    }

    pub fn start(&mut self, at: Place) -> Id {
        self.id(Value::Start(at))
    }

    fn is(&self, id: Id, x: u32) -> bool {
        self.get(id) == Value::Constant(x)
    }

    pub fn and(&mut self, a: Id, b: Id) -> Id {
        match (self.get(a), self.get(b)) {
            (Value::Constant(x), Value::Constant(y)) => self.constant(x & y),
            (Value::Constant(0), _) => a,
            (_, Value::Constant(0)) => b,
            _ => self.id(Value::And(a.min(b), a.max(b))),
        }
    }

    pub fn or(&mut self, a: Id, b: Id) -> Id {
        if self.is(a, 0) {
            return b;
        }
        if self.is(b, 0) {
            return a;
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Some((p, chosen)) = self.nothing_or(y) {
                let both = self.or(x, chosen);
                return self.choice(p, x, both);
            }
        }
        self.id(Value::Or(a.min(b), a.max(b)))
    }

    /// `p` and `x` of `p ? 0 : x`.
    fn nothing_or(&self, id: Id) -> Option<(Id, Id)> {
        match self.get(id) {
            Value::Choice(p, a, x) if self.is(a, 0) => Some((p, x)),
            _ => None,
        }
    }

    pub fn halves(&mut self, of: impl Fn(Half) -> Value) -> Quad {
        [0, 1].map(|h| self.id(of(h)))
    }

    /// `1 << k`, or `x << 1`.
    pub fn shifted_left(&mut self, x: Quad, k: Quad) -> Option<Quad> {
        if self.is(k[0], 1) && self.is(k[1], 0) {
            return Some(self.halves(|h| Value::Double(h, x)));
        }
        (self.is(x[0], 1) && self.is(x[1], 0)).then(|| self.halves(|h| Value::Power(h, k)))
    }

    pub fn difference(&mut self, a: Quad, b: Quad) -> Quad {
        if b.iter().all(|x| self.is(*x, 0)) {
            return a;
        }
        let parts = b.map(|x| self.nothing_or(x));
        let zero = self.constant(0);
        let less = match (parts, self.is(b[1], 0)) {
            ([Some((p, x)), Some((q, y))], _) if p == q => Some((p, [x, y])),
            ([Some((p, x)), None], true) => Some((p, [x, zero])),
            _ => None,
        };
        let Some((p, less)) = less else { return self.halves(|h| Value::Difference(h, a, b)) };
        let difference = self.difference(a, less);
        [0, 1].map(|h| self.choice(p, a[h], difference[h]))
    }

    pub fn less(&mut self, a: Quad, b: Quad) -> Id {
        if !self.is(b[1], 0) {
            return self.id(Value::Less(a, b));
        }
        let (high, low) = (self.is_zero(a[1]), self.less_dword(a[0], b[0]));
        self.both(high, low)
    }

    pub fn less_dword(&mut self, a: Id, b: Id) -> Id {
        self.id(Value::LessDword(a, b))
    }

    pub fn is_zero(&mut self, a: Id) -> Id {
        self.id(Value::IsZero(a))
    }

    pub fn both(&mut self, a: Id, b: Id) -> Id {
        self.id(Value::Both(a.min(b), a.max(b)))
    }

    pub fn not(&mut self, p: Id) -> Id {
        match self.get(p) {
            Value::Not(of) => of,
            _ => self.id(Value::Not(p)),
        }
    }

    pub fn choice(&mut self, p: Id, a: Id, b: Id) -> Id {
        match self.get(p) {
            _ if a == b => a,
            Value::Not(of) => self.choice(of, b, a),
            _ => self.id(Value::Choice(p, a, b)),
        }
    }
}
