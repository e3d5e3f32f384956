//! Comparing modules by what they say, not by where it stands in a source.

use crate::{Attr, AttrRange, Module, Object};

impl Module {
    /// The first difference between two modules, spans aside; `None` if they say the same.
    pub fn first_difference(&self, other: &Module) -> Option<String> {
        if self.version != other.version {
            return Some(format!("version: {:?}, {:?}", self.version, other.version));
        }
        if self.objects.len() != other.objects.len() {
            return Some(format!("objects: {}, {}", self.objects.len(), other.objects.len()));
        }
        self.objects
            .iter()
            .zip(&other.objects)
            .enumerate()
            .find_map(|(i, (a, b))| a.first_difference(b).map(|d| format!("object {i} ({}): {d}", a.name)))
    }
}

impl Object {
    /// The first difference between two objects, spans aside; `None` if they say the same.
    pub fn first_difference(&self, other: &Object) -> Option<String> {
        let (a, b) = (self, other);
        fn each<T>(what: &str, a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> Option<String>
        where
            T: std::fmt::Debug,
        {
            if let Some(i) = a.iter().zip(b).position(|(a, b)| !same(a, b)) {
                return Some(format!("{what} {i}: {:?}, {:?}", a[i], b[i]));
            }
            (a.len() != b.len()).then(|| format!("{what}: {}, {}", a.len(), b.len()))
        }
        let attr = |x: &Attr, y: &Attr| x.name == y.name && x.value == y.value;
        let attrs = |x: AttrRange, y: AttrRange| {
            let list = |o: &Object, r: AttrRange| {
                let start = r.start as usize;
                o.var_attrs.get(start..start + r.len as usize).unwrap_or_default().to_vec()
            };
            let (x, y) = (list(a, x), list(b, y));
            x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| attr(x, y))
        };
        if a.kind != b.kind || a.name != b.name {
            return Some(format!("{:?} {:?}, {:?} {:?}", a.kind, a.name, b.kind, b.name));
        }
        let strings = |o: &Object| o.strings.iter().map(str::to_owned).collect::<Vec<_>>();
        if a.strings != b.strings {
            return each("string", &strings(a), &strings(b), |x, y| x == y);
        }
        let simple = |x: &crate::SimpleVar, y: &crate::SimpleVar| {
            x.name == y.name && x.elems == y.elems && attrs(x.attrs, y.attrs)
        };
        each("variable", &a.vars, &b.vars, |x, y| {
            (x.name, x.ty, x.align, x.elems, x.alias, x.alias_offset)
                == (y.name, y.ty, y.align, y.elems, y.alias, y.alias_offset)
                && attrs(x.attrs, y.attrs)
        })
        .or_else(|| each("address", &a.addresses, &b.addresses, simple))
        .or_else(|| each("predicate", &a.predicates, &b.predicates, simple))
        .or_else(|| each("sampler", &a.samplers, &b.samplers, simple))
        .or_else(|| each("surface", &a.surfaces, &b.surfaces, simple))
        .or_else(|| each("label", &a.labels, &b.labels, |x, y| (x.name, x.kind) == (y.name, y.kind)))
        .or_else(|| {
            each("input", &a.inputs, &b.inputs, |x, y| {
                (x.kind, x.id, x.offset, x.size) == (y.kind, y.id, y.offset, y.size)
            })
        })
        .or_else(|| each("attribute", &a.attrs, &b.attrs, attr))
        .or_else(|| each("native code", &a.native, &b.native, |x, y| x == y))
        .or_else(|| {
            let i = a.insts.iter().zip(&b.insts).position(|(x, y)| x.op != y.op || a.ops(x) != b.ops(y));
            if let Some(i) = i {
                let show = |o: &Object| format!("{:?} {:?}", o.insts[i].op, o.ops(&o.insts[i]));
                return Some(format!("instruction {i}: {}, {}", show(a), show(b)));
            }
            (a.insts.len() != b.insts.len())
                .then(|| format!("instructions: {}, {}", a.insts.len(), b.insts.len()))
        })
        .or_else(|| {
            (a.function_sizes != b.function_sizes)
                .then(|| format!("sizes: {:?}, {:?}", a.function_sizes, b.function_sizes))
        })
    }
}
