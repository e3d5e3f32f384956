//! What the source calls where an instruction stands: SPIR-V has one instruction for several functions of OpenCL C, before
//! version 1.4 for `read_imagei` and `read_imageui`.

use std::collections::BTreeMap;

use envisa_diag::LineDirectives;

use super::super::{Rewriting, text};
use super::macros::{self, Defined, is_of_name};
use super::op;

/// The texts of a module, by the number that its lines have for each.
#[derive(Default)]
pub(super) struct CalledNames {
    texts: BTreeMap<u32, (String, Option<LineDirectives>)>,
    /// What the compiler's options define.
    defined: Defined,
}

fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

impl CalledNames {
    /// Of texts with their names. One text is that of a module whose lines are all in one file, whatever its name.
    pub fn of(module: &Rewriting, texts: &[(&str, &[u8])], options: &str) -> CalledNames {
        let lines = module.all.iter().filter(|i| i.op == op::LINE);
        let mut files: Vec<u32> = lines.filter_map(|i| module.operands(i).first().copied()).collect();
        files.sort_unstable();
        files.dedup();
        let name = |file: u32| {
            let mut strings = module.all.iter().filter(|i| i.op == op::STRING);
            strings
                .find_map(|i| module.operands(i).split_first().filter(|(id, _)| **id == file))
                .map(|(_, n)| text(n))
        };
        let found = |file: u32| match (texts, &files[..]) {
            ([one], [_]) => Some(one.1),
            _ => {
                let name = name(file)?;
                texts.iter().find(|t| last_part(t.0) == last_part(&name)).map(|t| t.1)
            }
        };
        let with_lines =
            |bytes: &[u8]| (String::from_utf8_lossy(bytes).into_owned(), LineDirectives::of(bytes));
        CalledNames {
            texts: files.iter().filter_map(|f| Some((*f, with_lines(found(*f)?)))).collect(),
            defined: macros::defined_by(options),
        }
    }

    /// The function on an image whose call begins at a line and a column of a file, also if a macro there calls it and no
    /// other of its kind.
    pub fn image_function_at(&self, [file, number, column]: [u32; 3]) -> Option<&'static str> {
        let (text, directives) = self.texts.get(&file)?;
        let number = directives.as_ref().map_or(Some(number), |d| d.line(number))?;
        let line = text.lines().nth((number as usize).checked_sub(1)?)?;
        let name = line.get((column as usize).checked_sub(1)?..)?.split(|c| !is_of_name(c)).next()?;
        if let Some(function) = image_function(name) {
            return Some(function);
        }
        let bodies = macros::bodies(text, &self.defined, name, number as usize);
        let mut all = bodies.iter().flat_map(|b| b.split(|c| !is_of_name(c)).filter_map(image_function));
        let first = all.next()?;
        all.all(|n| n == first).then_some(first)
    }
}

/// The function on an image of a name.
fn image_function(name: &str) -> Option<&'static str> {
    const ALL: [&str; 8] = [
        "read_imagef",
        "read_imagei",
        "read_imageui",
        "read_imageh",
        "write_imagef",
        "write_imagei",
        "write_imageui",
        "write_imageh",
    ];
    ALL.into_iter().find(|n| *n == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_macros_name_functions() {
        let text = "#define AT(p) \\\n  read_imageui(p, s, c)\n#define BOTH read_imagei(p) + read_imagef(p)\n\
                    uint4 v = read_imageui(p, s, c);\nuint4 w = AT(p) + BOTH;\n";
        let names =
            CalledNames { texts: BTreeMap::from([(7, (text.to_owned(), None))]), ..CalledNames::default() };
        assert_eq!(names.image_function_at([7, 4, 11]), Some("read_imageui"));
        assert_eq!(names.image_function_at([7, 5, 11]), Some("read_imageui"));
        assert_eq!(names.image_function_at([7, 5, 19]), None);
        assert_eq!(
            (
                names.image_function_at([7, 4, 1]),
                names.image_function_at([8, 4, 11]),
                names.image_function_at([7, 9, 0])
            ),
            (None, None, None)
        );
        // Lines with numbers of their own.
        let text = format!("// first\n#line 1\n{text}");
        let directives = LineDirectives::of(text.as_bytes());
        let names =
            CalledNames { texts: BTreeMap::from([(7, (text, directives))]), ..CalledNames::default() };
        assert_eq!(
            (names.image_function_at([7, 4, 11]), names.image_function_at([7, 1, 1])),
            (Some("read_imageui"), None)
        );
    }
}
