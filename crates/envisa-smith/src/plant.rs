//! Planted miscompiles: a sound text with one instruction made wrong, as a compiler might.

/// What is made wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The sources of an instruction that is not commutative are swapped.
    Swapped,
    /// `.sat` is lost.
    Saturation,
    /// A source reads its first element for all channels.
    Region,
    /// A barrier is dropped.
    Barrier,
    /// An immediate is off by one.
    Immediate,
    /// A predicate is inverted.
    Predicate,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::Swapped, Kind::Saturation, Kind::Region, Kind::Barrier, Kind::Immediate, Kind::Predicate];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Swapped => "swapped",
            Kind::Saturation => "saturation",
            Kind::Region => "region",
            Kind::Barrier => "barrier",
            Kind::Immediate => "immediate",
            Kind::Predicate => "predicate",
        }
    }
}

/// A line that may be made wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plant {
    /// What is made wrong.
    pub kind: Kind,
    /// Index of the line, from 0.
    pub line: usize,
    /// The line as it is.
    pub before: String,
    /// The line as it would be; empty for one that is left out.
    pub after: String,
}

impl Plant {
    /// The text with it.
    pub fn of(&self, text: &str) -> String {
        let line = |(i, line): (usize, &str)| {
            if i == self.line { format!("{}\n", self.after) } else { line.to_owned() }
        };
        text.split_inclusive('\n').enumerate().map(line).collect()
    }
}

/// Instructions whose first two sources mean different things.
const ORDERED: [&str; 12] =
    ["shl", "shr", "asr", "div", "mod", "sel", "cmp.lt", "cmp.le", "cmp.gt", "cmp.ge", "subb", "pow"];

/// All that can be made wrong in a vISA text, in its order.
pub fn plants(text: &str) -> Vec<Plant> {
    let mut all = Vec::new();
    for (i, whole) in text.lines().enumerate() {
        let end = whole.find("//").unwrap_or(whole.len());
        let (code, comment) = whole.split_at(end);
        let body = code.trim();
        if body.is_empty() || body.starts_with('.') || body.ends_with(':') {
            continue;
        }
        let mut add = |kind: Kind, after: String| {
            let after = if after.is_empty() { after } else { after + comment };
            all.push(Plant { kind, line: i, before: whole.to_owned(), after });
        };
        if body == "barrier" {
            add(Kind::Barrier, String::new());
            continue;
        }
        let indent = &code[..code.len() - code.trim_start().len()];
        if let Some(rest) = body.strip_prefix("(!P") {
            add(Kind::Predicate, format!("{indent}(P{rest}"));
        } else if let Some(rest) = body.strip_prefix("(P") {
            add(Kind::Predicate, format!("{indent}(!P{rest}"));
        }
        if let Some(at) = code.find(".sat") {
            add(Kind::Saturation, format!("{}{}", &code[..at], &code[at + 4..]));
        }
        // Behind the execution size and the destination.
        let Some(mask) = code.find("(M") else { continue };
        let Some(size) = code[mask..].find(')').map(|n| mask + n + 1) else { continue };
        let words: Vec<&str> = code[size..].split_whitespace().collect();
        let name = body.trim_start_matches(|c| c != ')' || !body.starts_with('('));
        let name = if body.starts_with('(') { name.trim_start_matches([')', ' ']) } else { body };
        let name = name.split_whitespace().next().unwrap_or_default();
        let sources = words.get(1..).unwrap_or_default();
        let message = name.contains("gather") || name.contains("scatter") || name.starts_with("lsc");
        if message || name.starts_with("goto") || sources.is_empty() || name.starts_with("movs") {
            continue;
        }
        let with = |sources: &[String]| format!("{} {} {}", &code[..size], words[0], sources.join(" "));
        let own: Vec<String> = sources.iter().map(|s| (*s).to_owned()).collect();
        let minus = name == "add" && own.iter().any(|s| s.starts_with("(-)"));
        if own.len() == 2 && own[0] != own[1] && ORDERED.contains(&name) {
            add(Kind::Swapped, with(&[own[1].clone(), own[0].clone()]));
        }
        if minus && let [a, b] = &own[..] {
            let turned = |s: &String| s.strip_prefix("(-)").map_or_else(|| format!("(-){s}"), str::to_owned);
            if !a.starts_with("0x") && !b.starts_with("0x") {
                add(Kind::Swapped, with(&[turned(a), turned(b)]));
            }
        }
        for (k, source) in own.iter().enumerate() {
            let mut changed = own.clone();
            if source.contains("<1;1,0>") {
                changed[k] = source.replace("<1;1,0>", "<0;1,0>");
                add(Kind::Region, with(&changed));
            } else if let Some((digits, ty)) = source.strip_prefix("0x").and_then(|s| s.split_once(':'))
                && let Ok(n) = u64::from_str_radix(digits, 16)
                && !matches!(ty, "f" | "df" | "hf" | "v" | "uv" | "vf")
                && !code.contains("%cr0")
            {
                changed[k] = format!("0x{:x}:{ty}", n.checked_sub(1).unwrap_or(1));
                add(Kind::Immediate, with(&changed));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_planted() {
        let text = ".decl V32 v_type=G\n    shl (M1, 16) V33(0,0)<1> V32(0,0)<1;1,0> 0x2:d\n    barrier\n    (P1) add.sat (M1, 16) V33(0,0)<1> V32(0,0)<1;1,0> (-)V34(0,0)<1;1,0> // x\n";
        let all = plants(text);
        let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|k| all.iter().any(|p| p.kind == *k)).collect();
        assert_eq!(kinds, Kind::ALL);
        let of =
            |kind: Kind| all.iter().find(|p| p.kind == kind).map(|p| p.after.clone()).unwrap_or_default();
        assert_eq!(of(Kind::Swapped), "    shl (M1, 16) V33(0,0)<1> 0x2:d V32(0,0)<1;1,0>");
        assert_eq!(of(Kind::Immediate), "    shl (M1, 16) V33(0,0)<1> V32(0,0)<1;1,0> 0x1:d");
        assert!(of(Kind::Predicate).starts_with("    (!P1) add.sat"), "{all:?}");
        assert!(of(Kind::Saturation).starts_with("    (P1) add (M1"), "{all:?}");
        let without = all.iter().find(|p| p.kind == Kind::Barrier).map(|p| p.of(text)).unwrap_or_default();
        assert!(!without.contains("barrier") && without.lines().count() == 4, "{without}");
    }
}
