//! Programs made small: statements are left out as long as two sides still differ.

use super::run::{How, Side, run};
use envisa_smith::opencl::{Kernel, PREAMBLE, Statement};

/// How many statements there are that can be left out.
fn count(body: &[Statement]) -> usize {
    body.iter()
        .map(|s| match s {
            Statement::Line(_) => 1,
            Statement::Kept(_) => 0,
            Statement::Block { body, .. } => 1 + count(body),
        })
        .sum()
}

/// Leaves out the statement of a number.
fn without(body: &[Statement], at: &mut usize) -> Vec<Statement> {
    let mut out = Vec::new();
    for s in body {
        if !matches!(s, Statement::Kept(_)) {
            let here = *at == 0;
            *at = at.wrapping_sub(1);
            if here {
                continue;
            }
        }
        out.push(match s {
            Statement::Block { head, body, tail } => {
                Statement::Block { head: head.clone(), body: without(body, at), tail: tail.clone() }
            }
            other => other.clone(),
        });
    }
    out
}

/// The smallest text on which two sides differ that leaving out single statements leads to.
///
/// # Errors
/// If they do not differ, or cannot be run.
pub fn smallest(kernel: &Kernel, one: Side, other: Side) -> Result<String, String> {
    let differ = |k: &Kernel| -> Result<bool, String> {
        let file = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
        std::fs::write(file.path(), PREAMBLE.to_owned() + &k.text()).map_err(|e| e.to_string())?;
        let how = How { text: Some(file.path()), ..How::default() };
        let left = |side| run(side, k.number..k.number + 1, how).map(|mut l| l.pop().map(|l| l.folds));
        Ok(matches!((left(one)?, left(other)?), (Some(Ok(a)), Some(Ok(b))) if a != b))
    };
    if !differ(kernel)? {
        return Err(format!("{} and {} leave the same", one.name(), other.name()));
    }
    let mut small = kernel.clone();
    let mut at = 0;
    while at < count(&small.body) {
        let mut tried = small.clone();
        tried.body = without(&small.body, &mut at.clone());
        if differ(&tried)? {
            small = tried;
        } else {
            at += 1;
        }
    }
    Ok(PREAMBLE.to_owned() + &small.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_statement_at_a_time_is_left_out() {
        let line = |text: &str| Statement::Line(text.into());
        let body = vec![
            line("a"),
            Statement::Block {
                head: "if".into(),
                body: vec![line("b"), Statement::Kept("c".into())],
                tail: String::new(),
            },
            line("d"),
        ];
        assert_eq!(count(&body), 4);
        let left: Vec<usize> = (0..5).map(|mut at| count(&without(&body, &mut at))).collect();
        assert_eq!(left, [3, 2, 3, 3, 4]);
    }
}
