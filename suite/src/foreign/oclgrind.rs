//! Oclgrind's own tests (github.com/jrprice/Oclgrind, `tests/kernels`): kernels with the arguments they are run with
//! (`.sim`), and what it has to print of them (`.ref`).

use std::collections::BTreeMap;
use std::path::Path;

use super::{Content, Inputs, Program, Suite};

/// All findings and faults but those of divisions and the like.
pub(super) const CODES: [&str; 14] = [
    "F0001", "F0002", "F0003", "F0004", "F0005", "F0006", "F0007", "F0008", "F0010", "F0018", "F0024",
    "F0025", "F0026", "F0027",
];

/// Reads the suite.
///
/// # Errors
/// What cannot be read.
pub fn read(folder: &Path) -> Result<Suite, String> {
    let root = folder.join("tests/kernels");
    let text = |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let mut suite = Suite {
        key: "oclgrind",
        about: "## Oclgrind's tests\n\nThe kernels of [Oclgrind](https://github.com/jrprice/Oclgrind), `tests/kernels`, with its \
                arguments. A kernel has a bug if Oclgrind's test expects an error message. Such a kernel should give a finding or a fault, and all others none."
            .to_owned(),
        programs: Vec::new(),
        left_out: BTreeMap::new(),
    };
    for name in text(&root.join("TESTS"))?.split_whitespace() {
        let path = root.join(name);
        let simulation = text(&path.with_extension("sim"))?;
        let said = std::fs::read_to_string(path.with_extension("ref")).unwrap_or_default();
        let source =
            simulation.lines().find(|l| !l.starts_with('#') && !l.trim().is_empty()).unwrap_or_default();
        let source = text(&path.with_file_name(source.trim()))?;
        match program(name, &simulation, &said, &source) {
            Ok(p) => suite.programs.push(p),
            Err(why) => *suite.left_out.entry(why).or_default() += 1,
        }
    }
    Ok(suite)
}

/// A test, or why it is not run.
fn program(name: &str, simulation: &str, said: &str, source: &str) -> Result<Program, String> {
    let lines: Vec<&str> = simulation.lines().collect();
    let arguments = lines.first().and_then(|l| l.strip_prefix("# ARGS:")).unwrap_or_default();
    let options = arguments.split_once("--build-options").map_or("", |(_, o)| o).trim();
    if arguments.split_whitespace().any(|a| a == "-i") {
        return Err("tests of its debugger".to_owned());
    }
    // Of what is left after comments: names and sizes, then arguments, whose numbers follow them.
    let code: String =
        lines.iter().map(|l| l.split('#').next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let (head, rest) = code.split_at(code.find('<').unwrap_or(code.len()));
    let mut words = head.split_whitespace().skip(1);
    let kernel = words.next().unwrap_or_default().to_owned();
    let sizes: Vec<u64> = words.filter_map(|w| w.parse().ok()).collect();
    let [gx, gy, gz, lx, ly, lz] = sizes[..] else { return Err("sizes that are not numbers".to_owned()) };
    let errors: Vec<&str> = said.lines().filter_map(|l| l.strip_prefix("ERROR ")).collect();
    let contents: Result<Vec<Content>, String> = rest.split('<').skip(1).map(content).collect();
    Ok(Program {
        name: name.to_owned(),
        text: source.to_owned(),
        kernel,
        options: options.to_owned(),
        global: vec![gx, gy, gz],
        local: vec![lx, ly, lz],
        inputs: Inputs::Given(contents?),
        bug: !errors.is_empty(),
        codes: &CODES,
        says: errors.first().map_or("nothing", |e| e.trim()).to_owned(),
        planted: None,
    })
}

/// `size=16 range=0:1:3 dump>`, or `size=4> 7`.
fn content(text: &str) -> Result<Content, String> {
    let (about, numbers) = text.split_once('>').unwrap_or((text, ""));
    let words: Vec<&str> = about.split_whitespace().collect();
    let value = |key: &str| words.iter().find_map(|w| w.strip_prefix(key)?.strip_prefix('='));
    if words.contains(&"null") {
        return Ok(Content::Null);
    }
    let size: usize = value("size").and_then(|n| n.parse().ok()).ok_or("an argument without a size")?;
    let is = |name: &str| words.contains(&name);
    let (bytes, float) = match () {
        () if is("char") || is("uchar") => (1, false),
        () if is("short") || is("ushort") => (2, false),
        () if is("long") || is("ulong") => (8, false),
        () if is("float") => (4, true),
        () if is("double") => (8, true),
        () => (4.min(size.max(1)), false),
    };
    let element = |x: f64| -> Vec<u8> {
        match (float, bytes) {
            (true, 4) => (x as f32).to_le_bytes().to_vec(),
            (true, _) => x.to_le_bytes().to_vec(),
            _ => (x as i64).to_le_bytes()[..bytes].to_vec(),
        }
    };
    let number = |w: &str| -> Result<f64, String> {
        let parsed = match is("hex") {
            true => u64::from_str_radix(w.trim_start_matches("0x"), 16).ok().map(|n| n as f64),
            false => w.parse().ok(),
        };
        parsed.ok_or_else(|| format!("`{w}` is not a number"))
    };
    if let Some(x) = value("fill") {
        let one = element(number(x)?);
        return Ok(Content::Bytes(one.into_iter().cycle().take(size).collect()));
    }
    if let Some(range) = value("range") {
        let all: Result<Vec<f64>, String> = range.split(':').map(number).collect();
        let [from, by, _] = all?[..] else { return Err(format!("the range {range}")) };
        let all = (0..size / bytes).flat_map(|n| element(from + by * n as f64));
        return Ok(Content::Bytes(all.collect()));
    }
    if is("noinit") {
        return Ok(Content::Fresh(size as u64));
    }
    let all: Result<Vec<Vec<u8>>, String> =
        numbers.split_whitespace().map(|w| number(w).map(element)).collect();
    let all = all?.concat();
    if all.is_empty() {
        return Ok(Content::Local(size as u64));
    }
    Ok(Content::Bytes(all.into_iter().chain(std::iter::repeat(0)).take(size).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read() {
        assert_eq!(content("size=8 range=1:2:3 dump>"), Ok(Content::Bytes(vec![1, 0, 0, 0, 3, 0, 0, 0])));
        assert_eq!(content("size=2 char fill=7>\n"), Ok(Content::Bytes(vec![7, 7])));
        assert_eq!(content("size=4>"), Ok(Content::Local(4)));
        assert_eq!(content("size=4>\n-1\n"), Ok(Content::Bytes(vec![255; 4])));
        assert_eq!(content("size=4 noinit>"), Ok(Content::Fresh(4)));
        assert_eq!(content("null>"), Ok(Content::Null));
        assert!(content("fill=3>").is_err() && content("size=4> x").is_err());
    }
}
