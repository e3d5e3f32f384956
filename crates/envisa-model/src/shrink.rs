//! Small programs of large ones that fail.

use crate::program::*;

/// Calls a function for every list of statements, those inside others included; stops when it gives `true`.
fn for_each_list(p: &mut Program, f: &mut dyn FnMut(&mut Vec<Stmt>) -> bool) -> bool {
    fn inside(list: &mut Vec<Stmt>, f: &mut dyn FnMut(&mut Vec<Stmt>) -> bool) -> bool {
        f(list)
            || list.iter_mut().any(|s| match s {
                Stmt::If { then, other, .. } => inside(then, f) || inside(other, f),
                Stmt::Loop { body, .. } => inside(body, f),
                _ => false,
            })
    }
    inside(&mut p.body, f)
        || p.subs.iter_mut().any(|s| inside(s, f))
        || p.functions.iter_mut().any(|x| inside(&mut x.body, f))
}

/// The program with the list of this number changed; `None` if there is no such list.
fn with_list(p: &Program, number: usize, change: &dyn Fn(&mut Vec<Stmt>)) -> Option<Program> {
    let mut p = p.clone();
    let mut at = 0;
    let found = for_each_list(&mut p, &mut |list| {
        let here = at == number;
        at += 1;
        if here {
            change(list);
        }
        here
    });
    found.then_some(p)
}

fn list_length(p: &Program, number: usize) -> Option<usize> {
    let mut n = None;
    let (mut p, mut at) = (p.clone(), 0);
    for_each_list(&mut p, &mut |list| {
        let here = at == number;
        at += 1;
        if here {
            n = Some(list.len());
        }
        here
    });
    n
}

/// Simpler forms of a statement.
fn simpler_forms(s: &Stmt) -> Vec<Vec<Stmt>> {
    let mut out = Vec::new();
    match s {
        Stmt::If { then, other, .. } => {
            let leaves = |list: &[Stmt]| format!("{list:?}").contains("Leave");
            if !leaves(then) && !leaves(other) {
                out.push(then.clone());
                out.push(other.clone());
            }
        }
        Stmt::Inst(i) => {
            let mut add = |f: &dyn Fn(&mut Inst)| {
                let mut j = i.clone();
                f(&mut j);
                if j != *i {
                    out.push(vec![Stmt::Inst(j)]);
                }
            };
            if i.op != Op::Sel {
                add(&|j| j.guard = None);
            }
            add(&|j| {
                if let Dst::Elements { sat, .. } = &mut j.dst {
                    *sat = false;
                }
            });
            for k in 0..i.srcs.len() {
                add(&|j| {
                    if let Src::Region { modifier, .. } = &mut j.srcs[k] {
                        *modifier = Mod::None;
                    }
                });
            }
            add(&|j| {
                if j.exec.n > 1
                    && j.srcs.iter().all(|s| !matches!(s, Src::Region { region: (_, w, _), .. } if *w > 1))
                {
                    j.exec.n = 1;
                    for s in &mut j.srcs {
                        if let Src::Region { region, .. } = s {
                            *region = (0, 1, 0);
                        }
                    }
                }
            });
        }
        Stmt::Shuffle(s) if s.guard.is_some() => {
            out.push(vec![Stmt::Shuffle(Shuffle { guard: None, ..s.clone() })]);
        }
        Stmt::Access(a) if a.guard.is_some() => {
            out.push(vec![Stmt::Access(Access { guard: None, ..a.clone() })]);
        }
        _ => {}
    }
    out
}

/// The smallest program found for which `fails` still holds; it holds for `p`.
pub fn shrink(p: &Program, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = p.clone();
    for _ in 0..20 {
        let before = format!("{:?}", (&best.body, &best.subs, &best.functions));
        let mut number = 0;
        while let Some(len) = list_length(&best, number) {
            let mut size = len;
            while size > 0 {
                let mut from = 0;
                while let Some(len) = list_length(&best, number)
                    && from < len
                {
                    let to = (from + size).min(len);
                    match with_list(&best, number, &|list| drop(list.drain(from..to))) {
                        Some(q) if fails(&q) => best = q,
                        _ => from = to,
                    }
                }
                size /= 2;
            }
            let mut at = 0;
            while list_length(&best, number).is_some_and(|len| at < len) {
                let mut forms = Vec::new();
                let mut k = 0;
                for_each_list(&mut best.clone(), &mut |list| {
                    let here = k == number;
                    k += 1;
                    if here {
                        forms = simpler_forms(&list[at]);
                    }
                    here
                });
                for form in forms {
                    let put = |list: &mut Vec<Stmt>| drop(list.splice(at..at + 1, form.clone()));
                    if let Some(q) = with_list(&best, number, &put)
                        && fails(&q)
                    {
                        best = q;
                        break;
                    }
                }
                at += 1;
            }
            number += 1;
        }
        if before == format!("{:?}", (&best.body, &best.subs, &best.functions)) {
            break;
        }
    }
    best
}
