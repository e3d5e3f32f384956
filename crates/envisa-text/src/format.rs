//! Formatting a text: blanks and line ends only; comments, strings and the order of things stay.

use crate::name_bytes::{is_label, is_start};

/// A part of a logical line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Bytes without blanks between them; strings within are whole.
    Code,
    Comment,
    /// `\` at the end of a line: the statement goes on in the next.
    Break,
}

#[derive(Clone, Copy, Debug)]
struct Piece<'s> {
    kind: Kind,
    text: &'s str,
    /// Blanks stand before it.
    gap: bool,
    /// It starts in the first column.
    first_column: bool,
}

/// Formats a text. What reads without errors reads the same afterwards; formatting twice changes nothing
/// more.
///
/// - directives, labels and braces start in the first column, instructions after four blanks;
/// - outside of strings and comments one blank stands where there were several, none ends a line;
/// - two blanks stand before a comment that follows code;
/// - lines end in LF; there is at most one empty line in a row, none at either end.
///
/// ```
/// let text = ".version 4.1\r\n\r\n\r\n.kernel \"k\"\nbarrier   // all\n";
/// assert_eq!(envisa_text::format(text), ".version 4.1\n\n.kernel \"k\"\n    barrier  // all\n");
/// ```
pub fn format(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut pieces = Vec::new();
    let mut pos = 0;
    let mut empty = false;
    while pos < source.len() {
        pieces.clear();
        pos = logical_line(source, pos, &mut pieces);
        let is_break = |p: &Piece| p.kind == Kind::Break;
        let first = pieces.iter().position(|p| !is_break(p)).unwrap_or(pieces.len());
        let last = pieces.iter().rposition(|p| !is_break(p)).map_or(first, |i| i + 1);
        let line = &pieces[first..last];
        if line.is_empty() {
            empty = !out.is_empty();
            continue;
        }
        if empty {
            out.push('\n');
            empty = false;
        }
        write_line(line, &mut out);
    }
    out
}

/// Splits off the line at `pos`, with the lines that continue it; gives where the next one starts.
fn logical_line<'s>(source: &'s str, mut pos: usize, pieces: &mut Vec<Piece<'s>>) -> usize {
    let src = source.as_bytes();
    let mut gap = false;
    let mut first_column = true;
    while pos < src.len() {
        let start = pos;
        let kind = match src[pos] {
            b'\n' => return pos + 1,
            b' ' | b'\t' => {
                pos += 1;
                gap = true;
                first_column = false;
                continue;
            }
            b'\r' if ends_line(src, pos).1 => {
                pos = ends_line(src, pos).0;
                continue;
            }
            b'/' if src.get(pos + 1) == Some(&b'/') => {
                pos = memchr::memchr(b'\n', &src[pos..]).map_or(src.len(), |n| pos + n);
                Kind::Comment
            }
            b'/' if src.get(pos + 1) == Some(&b'*') => {
                let end = memchr::memmem::find(&src[pos + 2..], b"*/");
                pos = end.map_or(src.len(), |n| pos + 2 + n + 2);
                Kind::Comment
            }
            b'\\' if line_continuation_length(src, pos) > 0 => {
                pos += line_continuation_length(src, pos);
                pieces.push(Piece { kind: Kind::Break, text: "", gap, first_column });
                gap = false;
                first_column = true;
                continue;
            }
            _ => {
                pos = code_end(src, pos);
                Kind::Code
            }
        };
        pieces.push(Piece { kind, text: &source[start..pos], gap, first_column });
        gap = false;
        first_column = false;
    }
    pos
}

/// Length of a `\` with the line end after it; 0 if it is none.
fn line_continuation_length(src: &[u8], pos: usize) -> usize {
    match src.get(pos + 1..) {
        Some([b'\n', ..]) => 2,
        Some([b'\r', b'\n', ..]) => 3,
        _ => 0,
    }
}

/// Where carriage returns end, and whether the line does.
fn ends_line(src: &[u8], pos: usize) -> (usize, bool) {
    let n = src[pos..].iter().take_while(|b| **b == b'\r').count();
    (pos + n, matches!(src.get(pos + n), None | Some(b'\n')))
}

/// Where the code that starts here ends: at a blank, a comment, or the end of the line.
fn code_end(src: &[u8], mut pos: usize) -> usize {
    while let Some(&b) = src.get(pos) {
        match b {
            b' ' | b'\t' | b'\n' => break,
            b'\r' => match ends_line(src, pos) {
                (_, true) => break,
                (end, false) => pos = end,
            },
            b'/' if matches!(src.get(pos + 1), Some(b'/' | b'*')) => break,
            b'\\' if line_continuation_length(src, pos) > 0 => break,
            b'"' => {
                pos += 1;
                while let Some(&b) = src.get(pos) {
                    match b {
                        b'\n' => break,
                        b'"' => {
                            pos += 1;
                            break;
                        }
                        b'\\' if matches!(src.get(pos + 1), Some(n) if *n != b'\n') => pos += 2,
                        _ => pos += 1,
                    }
                }
            }
            _ => pos += 1,
        }
    }
    // An escape may have stepped into a character.
    while pos < src.len() && src[pos] & 0xc0 == 0x80 {
        pos += 1;
    }
    pos
}

/// Is a label defined here? Only in the first column.
fn is_label_line(piece: &Piece) -> bool {
    let bytes = piece.text.as_bytes();
    let n = bytes.iter().position(|b| !is_label(*b));
    piece.first_column
        && n.is_some_and(|n| bytes[n] == b':')
        && (is_start(bytes[0]) || matches!(bytes[0], b'$' | b'@' | b'?'))
}

fn write_line(line: &[Piece], out: &mut String) {
    let indent = match line.iter().find(|p| p.kind == Kind::Code) {
        None => !line[0].first_column,
        Some(p) => !(matches!(p.text.as_bytes()[0], b'.' | b'{' | b'}') || is_label_line(p)),
    };
    if indent {
        out.push_str("    ");
    }
    let code_ends = line.iter().rposition(|p| p.kind == Kind::Code);
    let mut before = None;
    for (i, piece) in line.iter().enumerate() {
        if piece.kind == Kind::Break {
            if before != Some(Kind::Break) {
                out.push_str(" \\\n");
            }
            before = Some(Kind::Break);
            continue;
        }
        match before {
            None => {}
            Some(Kind::Break) if is_label_line(piece) => {}
            Some(Kind::Break) => out.push_str("        "),
            Some(Kind::Code) if code_ends.is_some_and(|e| i > e) => out.push_str("  "),
            Some(_) if piece.gap => out.push(' '),
            Some(_) => {}
        }
        before = Some(piece.kind);
        match piece.kind {
            Kind::Comment => write_comment(piece.text, out),
            _ => out.push_str(piece.text),
        }
    }
    out.push('\n');
}

/// A comment as it is, without blanks at the ends of its lines.
fn write_comment(text: &str, out: &mut String) {
    // One that is not closed goes to the end of the text.
    let text = text.trim_end();
    let mut lines = text.split('\n');
    if let Some(first) = lines.next() {
        out.push_str(first.trim_end_matches([' ', '\t', '\r']));
    }
    for line in lines {
        out.push('\n');
        out.push_str(line.trim_end_matches([' ', '\t', '\r']));
    }
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn shapes_of_lines() {
        let cases = [
            ("", ""),
            ("\n\n \n", ""),
            ("  .decl  V32   v_type=G\ttype=d\n", ".decl V32 v_type=G type=d\n"),
            ("L1:\nmov (M1,8)  a b", "L1:\n    mov (M1,8) a b\n"),
            ("  L1:\n", "    L1:\n"),
            ("$L-2:   // here\n", "$L-2:  // here\n"),
            (" {\n } // out\n", "{\n}  // out\n"),
            ("// a\n  // b  \n\n\n\n// c\r\n", "// a\n    // b\n\n// c\n"),
            ("x \"a  //  b\\\"  c\"   y\n", "    x \"a  //  b\\\"  c\" y\n"),
            ("mov  /* a  b */  x  /* t */  // u\n", "    mov /* a  b */ x  /* t */ // u\n"),
            ("/* a  \n\n  b */ mov\n", "    /* a\n\n  b */ mov\n"),
            ("mov \\\n x\\\r\n y\n", "    mov \\\n        x \\\n        y\n"),
            ("mov \\\n\n.decl", "    mov\n.decl\n"),
            ("\\\nL:\n", "L:\n"),
            ("\"open\n/* open", "    \"open\n/* open\n"),
            ("\"\\é\"  \"é", "    \"\\é\" \"é\n"),
        ];
        for (from, to) in cases {
            assert_eq!(format(from), to, "{from:?}");
            assert_eq!(format(to), to, "again {from:?}");
        }
    }
}
