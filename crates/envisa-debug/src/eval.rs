//! Expressions of C over what a lane sees.

use crate::c_expressions::Expr;
use crate::types::{Base, Number, Type, TypeId, Types};
use envisa::machine::group::log::Place;

/// A value, and where it is if it is somewhere.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: TypeId,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where it is.
    pub place: Option<Place>,
}

/// What a lane sees.
pub trait LaneValues {
    /// A variable, register or builtin by its name; `None`: there is none.
    fn name(&self, name: &str, types: &mut Types) -> Option<Result<Value, String>>;
    /// A builtin function of one integer: `get_global_id(0)`.
    fn builtin(&self, name: &str, argument: u64) -> Option<u64>;
    /// Bytes at a place.
    ///
    /// # Errors
    /// There are none.
    fn read(&self, place: Place, bytes: u64) -> Result<Vec<u8>, String>;
    /// Where a pointer's value points to.
    fn pointed(&self, address: u64) -> Place;
    /// The value of a pointer to a place.
    fn pointer(&self, place: Place) -> Option<u64>;
}

/// Largest value that is read.
const MAX_BYTES: u64 = 1 << 20;

/// Evaluates expressions.
pub struct Eval<'a> {
    /// Types, which grow.
    pub types: &'a mut Types,
    /// What is seen.
    pub look: &'a dyn LaneValues,
}

type Made = Result<Value, String>;

impl Eval<'_> {
    /// The value of an expression.
    ///
    /// # Errors
    /// Why it has none, in a sentence.
    pub fn value(&mut self, e: &Expr) -> Made {
        match e {
            Expr::Int(n, unsigned, long) => {
                let (name, base) = match (unsigned, long) {
                    (false, false) => ("int", Base::Signed(4)),
                    (true, false) => ("uint", Base::Unsigned(4)),
                    (false, true) => ("long", Base::Signed(8)),
                    (true, true) => ("ulong", Base::Unsigned(8)),
                };
                Ok(self.number(name, base, Number::Int(*n)))
            }
            Expr::Float(x, bytes) => {
                let name = ["half", "float", "double"][(bytes / 4).min(2) as usize];
                Ok(self.number(name, Base::Float(*bytes), Number::Float(*x)))
            }
            Expr::Name(name) => match self.look.name(name, self.types) {
                Some(found) => found,
                None => Err(format!("nothing is called `{name}` here")),
            },
            Expr::Unary(op, x) => self.unary(*op, x),
            Expr::Deref(x) => {
                let x = self.value(x)?;
                self.element(&x, 0)
            }
            Expr::Address(x) => {
                let x = self.value(x)?;
                let place = x.place.ok_or("a value that is in no memory has no address")?;
                let address = self.look.pointer(place).ok_or("a register has no address")?;
                let ty = self.types.add(Type::Pointer(x.ty, None));
                Ok(Value { ty, bytes: address.to_le_bytes().to_vec(), place: None })
            }
            Expr::Binary(op, a, b) => self.binary(op, a, b),
            Expr::Choice(c, a, b) => {
                let c = self.value(c)?;
                if self.truth(&c)? { self.value(a) } else { self.value(b) }
            }
            Expr::Index(a, i) => {
                let (a, i) = (self.value(a)?, self.value(i)?);
                let Number::Int(i) = self.read_number(&i)? else {
                    return Err("an index is an integer".into());
                };
                self.element(&a, i64::try_from(i).map_err(|_| "an index that is too large")?)
            }
            Expr::Member(of, name, arrow) => {
                let of = self.value(of)?;
                let of = if *arrow { self.element(&of, 0)? } else { of };
                self.member(&of, name)
            }
            Expr::Cast(name, pointers, x) => self.cast(name, *pointers, x),
            Expr::Call(name, arguments) => self.call(name, arguments),
            Expr::Sizeof(x) => {
                let n = match &**x {
                    Expr::Name(name) if self.look.name(name, self.types).is_none() => {
                        let ty = self
                            .types
                            .named(name)
                            .ok_or_else(|| format!("nothing is called `{name}` here"))?;
                        self.types.bytes(ty)
                    }
                    x => {
                        let ty = self.value(x)?.ty;
                        self.types.bytes(ty)
                    }
                };
                Ok(self.number("ulong", Base::Unsigned(8), Number::Int(n.into())))
            }
        }
    }

    fn number(&mut self, name: &str, base: Base, n: Number) -> Value {
        Value { ty: self.types.number(name, base), bytes: n.write(base), place: None }
    }

    fn base(&self, ty: TypeId) -> Result<Base, String> {
        self.types.base(ty).ok_or_else(|| format!("a value of type {} is not a number", self.types.name(ty)))
    }

    /// The number that a value is.
    ///
    /// # Errors
    /// It is none.
    pub fn read_number(&self, v: &Value) -> Result<Number, String> {
        let base = self.base(v.ty)?;
        Number::read(base, &v.bytes).ok_or_else(|| format!("a number of {} bytes is not known", base.bytes()))
    }

    /// Is a value other than zero?
    ///
    /// # Errors
    /// It is not a number.
    pub fn truth(&self, v: &Value) -> Result<bool, String> {
        self.read_number(v).map(Number::is_true)
    }

    fn at(&self, ty: TypeId, place: Place) -> Made {
        let bytes = self.types.bytes(ty);
        if bytes == 0 || bytes > MAX_BYTES {
            return Err(format!("a value of type {} cannot be read", self.types.name(ty)));
        }
        Ok(Value { ty, bytes: self.look.read(place, bytes)?, place: Some(place) })
    }

    /// An element of an array or vector, or of what a pointer points to.
    fn element(&mut self, of: &Value, i: i64) -> Made {
        match *self.types.real(of.ty) {
            Type::Pointer(to, _) => {
                let Some(Number::Int(address)) = Number::read(Base::Unsigned(8), &of.bytes) else {
                    return Err("a pointer that cannot be read".into());
                };
                let by = self.types.bytes(to).wrapping_mul(i as u64);
                self.at(to, self.look.pointed((address as u64).wrapping_add(by)))
            }
            Type::Array(to, n) | Type::Vector(to, n) => {
                if i < 0 || i as u64 >= n {
                    return Err(format!("index {i} of {n} elements"));
                }
                self.part(of, to, self.types.bytes(to).saturating_mul(i as u64))
            }
            _ => Err(format!("a value of type {} has no elements", self.types.name(of.ty))),
        }
    }

    fn part(&self, of: &Value, ty: TypeId, offset: u64) -> Made {
        let (from, n) = (offset as usize, self.types.bytes(ty) as usize);
        let bytes = from.checked_add(n).and_then(|end| of.bytes.get(from..end));
        let bytes = bytes.ok_or("a part that lies outside of the whole")?.to_vec();
        Ok(Value { ty, bytes, place: of.place.map(|p| p.plus(offset)) })
    }

    fn member(&mut self, of: &Value, name: &str) -> Made {
        match self.types.real(of.ty).clone() {
            Type::Struct(_, _, fields) => match fields.iter().find(|f| f.name == name) {
                Some(f) => self.part(of, f.ty, f.offset),
                None => Err(format!("{} has no member `{name}`", self.types.name(of.ty))),
            },
            Type::Vector(to, n) => {
                let lanes =
                    swizzle_elements(name, n).ok_or_else(|| format!("`{name}` picks no elements of {n}"))?;
                let parts: Result<Vec<Value>, String> =
                    lanes.iter().map(|i| self.part(of, to, self.types.bytes(to) * i)).collect();
                let mut parts = parts?;
                if parts.len() == 1 {
                    return Ok(parts.remove(0));
                }
                let mut bytes: Vec<u8> = parts.iter().flat_map(|p| p.bytes.clone()).collect();
                let ty = self.types.add(Type::Vector(to, parts.len() as u64));
                bytes.resize(self.types.bytes(ty) as usize, 0);
                Ok(Value { ty, bytes, place: None })
            }
            Type::Pointer(..) => Err(format!("a pointer has no members: write ->{name}")),
            _ => Err(format!("a value of type {} has no members", self.types.name(of.ty))),
        }
    }

    fn unary(&mut self, op: char, x: &Expr) -> Made {
        let x = self.value(x)?;
        if op == '!' {
            let n = i128::from(!self.truth(&x)?);
            return Ok(self.number("int", Base::Signed(4), Number::Int(n)));
        }
        self.each(&x, |n| {
            Ok(match (op, n) {
                ('-', Number::Int(n)) => Number::Int(-n),
                ('-', Number::Float(x)) => Number::Float(-x),
                ('~', Number::Int(n)) => Number::Int(!n),
                ('~', Number::Float(_)) => return Err("`~` is for integers".into()),
                (_, n) => n,
            })
        })
    }

    /// Does something to a number, or to each of a vector.
    fn each(&mut self, x: &Value, f: impl Fn(Number) -> Result<Number, String>) -> Made {
        if let Type::Vector(of, n) = *self.types.real(x.ty) {
            let mut bytes = Vec::new();
            for i in 0..n as i64 {
                let part = self.element(x, i)?;
                bytes.extend(f(self.read_number(&part)?)?.write(self.base(of)?));
            }
            bytes.resize(x.bytes.len(), 0);
            return Ok(Value { ty: x.ty, bytes, place: None });
        }
        let n = f(self.read_number(x)?)?;
        let base = promote_integer(self.base(x.ty)?);
        Ok(self.number(name_of(base), base, n))
    }

    fn binary(&mut self, op: &'static str, a: &Expr, b: &Expr) -> Made {
        let a = self.value(a)?;
        if matches!(op, "&&" | "||") {
            let left = self.truth(&a)?;
            let both = if left == (op == "||") {
                left
            } else {
                let b = self.value(b)?;
                self.truth(&b)?
            };
            return Ok(self.number("int", Base::Signed(4), Number::Int(both.into())));
        }
        let b = self.value(b)?;
        if let (Type::Pointer(to, _), "+" | "-") = (self.types.real(a.ty).clone(), op)
            && !matches!(self.types.real(b.ty), Type::Pointer(..))
        {
            let (Number::Int(p), Number::Int(i)) = (self.read_number(&a)?, self.read_number(&b)?) else {
                return Err("a pointer moves by an integer".into());
            };
            let by = i * i128::from(self.types.bytes(to).max(1));
            let p = if op == "+" { p + by } else { p - by };
            return Ok(Value { ty: a.ty, bytes: (p as u64).to_le_bytes().to_vec(), place: None });
        }
        let vector =
            [&a, &b].into_iter().find(|v| matches!(self.types.real(v.ty), Type::Vector(..))).cloned();
        if let Some(vector) = vector {
            let Type::Vector(_, n) = *self.types.real(vector.ty) else { return Err("no vector".into()) };
            let mut bytes = Vec::new();
            let mut element = None;
            for i in 0..n as i64 {
                let mut part = |v: &Value| match self.types.real(v.ty) {
                    Type::Vector(..) => self.element(v, i),
                    _ => Ok(v.clone()),
                };
                let (x, y) = (part(&a)?, part(&b)?);
                let made = self.arithmetic(op, &x, &y)?;
                bytes.extend(made.bytes);
                element = Some(made.ty);
            }
            let ty = self.types.add(Type::Vector(element.ok_or("an empty vector")?, n));
            bytes.resize(self.types.bytes(ty) as usize, 0);
            return Ok(Value { ty, bytes, place: None });
        }
        self.arithmetic(op, &a, &b)
    }

    fn arithmetic(&mut self, op: &'static str, a: &Value, b: &Value) -> Made {
        let (x, y) = (self.read_number(a)?, self.read_number(b)?);
        let common = usual_conversion(self.base(a.ty)?, self.base(b.ty)?);
        let compare = |o: std::cmp::Ordering| match op {
            "==" => o.is_eq(),
            "!=" => o.is_ne(),
            "<" => o.is_lt(),
            ">" => o.is_gt(),
            "<=" => o.is_le(),
            _ => o.is_ge(),
        };
        let is_compare = matches!(op, "==" | "!=" | "<" | ">" | "<=" | ">=");
        // As C does: both become the common type first.
        let convert = |n: Number| Number::read(common, &n.write(common)).ok_or("a number that is not known");
        let shift = matches!(op, "<<" | ">>");
        let common_left = if shift { promote_integer(self.base(a.ty)?) } else { common };
        let (x, y) = if shift { (x, y) } else { (convert(x)?, convert(y)?) };
        let n = match (x, y) {
            (Number::Float(x), Number::Float(y)) if is_compare => {
                let is = x.partial_cmp(&y).map_or(op == "!=", compare);
                return Ok(self.number("int", Base::Signed(4), Number::Int(is.into())));
            }
            (Number::Int(x), Number::Int(y)) if is_compare => {
                return Ok(self.number("int", Base::Signed(4), Number::Int(compare(x.cmp(&y)).into())));
            }
            (Number::Float(x), Number::Float(y)) => Number::Float(match op {
                "+" => x + y,
                "-" => x - y,
                "*" => x * y,
                "/" => x / y,
                _ => return Err(format!("`{op}` is for integers")),
            }),
            (Number::Int(x), Number::Int(y)) => Number::Int(match op {
                "+" => x + y,
                "-" => x - y,
                "*" => x.wrapping_mul(y),
                "/" | "%" if y == 0 => return Err("a division by zero".into()),
                "/" => x / y,
                "%" => x % y,
                "&" => x & y,
                "|" => x | y,
                "^" => x ^ y,
                "<<" => x << (y & (8 * common_left.bytes() as i128 - 1)).clamp(0, 63),
                _ => x >> (y & (8 * common_left.bytes() as i128 - 1)).clamp(0, 63),
            }),
            _ => return Err(format!("`{op}` is for integers")),
        };
        Ok(self.number(name_of(common_left), common_left, n))
    }

    fn cast(&mut self, name: &str, pointers: usize, x: &Expr) -> Made {
        let named = self.types.named(name);
        let Some(mut ty) = named else {
            // `(a)(b)`: no cast of a type that there is.
            return Err(format!("no type is called `{name}`"));
        };
        for _ in 0..pointers.min(8) {
            ty = self.types.add(Type::Pointer(ty, None));
        }
        let x = self.value(x)?;
        match *self.types.real(ty) {
            Type::Vector(of, n) => {
                let base = self.base(of)?;
                let mut bytes = Vec::new();
                for i in 0..n as i64 {
                    let part = match self.types.real(x.ty) {
                        Type::Vector(..) => self.element(&x, i)?,
                        _ => x.clone(),
                    };
                    bytes.extend(self.read_number(&part)?.write(base));
                }
                bytes.resize(self.types.bytes(ty) as usize, 0);
                Ok(Value { ty, bytes, place: None })
            }
            _ => {
                let base = self.base(ty)?;
                Ok(Value { ty, bytes: self.read_number(&x)?.write(base), place: None })
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &[Expr]) -> Made {
        let values: Result<Vec<Value>, String> = arguments.iter().map(|a| self.value(a)).collect();
        let values = values?;
        let first = values.first().map(|v| self.read_number(v)).transpose()?;
        let test = match (name, first) {
            ("isnan", Some(Number::Float(x))) => Some(x.is_nan()),
            ("isinf", Some(Number::Float(x))) => Some(x.is_infinite()),
            ("isfinite", Some(Number::Float(x))) => Some(x.is_finite()),
            _ => None,
        };
        if let Some(test) = test {
            return Ok(self.number("int", Base::Signed(4), Number::Int(test.into())));
        }
        let argument = match first {
            None => 0,
            Some(Number::Int(n)) => u64::try_from(n).unwrap_or(u64::MAX),
            Some(Number::Float(_)) => u64::MAX,
        };
        match self.look.builtin(name, argument) {
            Some(n) => Ok(self.number("ulong", Base::Unsigned(8), Number::Int(n.into()))),
            None => Err(format!(
                "`{name}` cannot be called here: of functions, those of ids and sizes can, and isnan, isinf, isfinite"
            )),
        }
    }

    /// The bytes of a value of another type, as an assignment makes them.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn converted(&mut self, v: &Value, ty: TypeId) -> Result<Vec<u8>, String> {
        if let Some(base) = self.types.base(ty) {
            return Ok(self.read_number(v)?.write(base));
        }
        if self.types.bytes(ty) == v.bytes.len() as u64 {
            return Ok(v.bytes.clone());
        }
        Err(format!("a value of type {} is not a {}", self.types.name(v.ty), self.types.name(ty)))
    }
}

/// The elements that a swizzle picks.
fn swizzle_elements(name: &str, n: u64) -> Option<Vec<u64>> {
    let half = n.div_ceil(2);
    let picked: Vec<u64> = match name {
        "lo" => (0..half).collect(),
        "hi" => (half..n).collect(),
        "even" => (0..n).step_by(2).collect(),
        "odd" => (1..n).step_by(2).collect(),
        _ => match name.strip_prefix(['s', 'S']) {
            Some(digits) if !digits.is_empty() => {
                digits.chars().map(|c| c.to_digit(16).map(u64::from)).collect::<Option<_>>()?
            }
            _ => name.chars().map(|c| "xyzw".find(c).map(|i| i as u64)).collect::<Option<_>>()?,
        },
    };
    (!picked.is_empty() && picked.len() <= 16 && picked.iter().all(|i| *i < n)).then_some(picked)
}

/// Integers narrower than `int` become one.
fn promote_integer(base: Base) -> Base {
    match base {
        Base::Signed(n) | Base::Unsigned(n) | Base::Bool(n) if n < 4 => Base::Signed(4),
        Base::Bool(_) => Base::Signed(4),
        base => base,
    }
}

/// The usual arithmetic conversions.
fn usual_conversion(a: Base, b: Base) -> Base {
    match (promote_integer(a), promote_integer(b)) {
        (Base::Float(m), Base::Float(n)) => Base::Float(m.max(n)),
        (Base::Float(n), _) | (_, Base::Float(n)) => Base::Float(n),
        (a, b) if a.bytes() == b.bytes() => {
            if matches!(a, Base::Unsigned(_)) {
                a
            } else {
                b
            }
        }
        (a, b) => {
            if a.bytes() > b.bytes() {
                a
            } else {
                b
            }
        }
    }
}

fn name_of(base: Base) -> &'static str {
    match base {
        Base::Signed(8) => "long",
        Base::Unsigned(8) => "ulong",
        Base::Unsigned(_) => "uint",
        Base::Float(2) => "half",
        Base::Float(4) => "float",
        Base::Float(_) => "double",
        Base::Signed(_) | Base::Bool(_) => "int",
    }
}
