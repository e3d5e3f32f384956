//! The bytes that names and labels may contain.

const IDENT: u8 = 1;
const START: u8 = 2;
const DIGIT: u8 = 4;
const LABEL: u8 = 8;

const CLASS: [u8; 256] = {
    let mut t = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        let c = i as u8;
        if c.is_ascii_alphabetic() || c == b'_' {
            t[i] = IDENT | START | LABEL;
        } else if c.is_ascii_digit() {
            t[i] = IDENT | DIGIT | LABEL;
        } else if matches!(c, b'-' | b'$' | b'@' | b'?') {
            t[i] = LABEL;
        }
        i += 1;
    }
    t
};

/// Can the byte stand in an identifier?
pub(crate) fn is_ident(b: u8) -> bool {
    CLASS[b as usize] & IDENT != 0
}

/// Can an identifier start with the byte?
pub(crate) fn is_start(b: u8) -> bool {
    CLASS[b as usize] & START != 0
}

/// Can the byte stand in a label's definition?
pub(crate) fn is_label(b: u8) -> bool {
    CLASS[b as usize] & LABEL != 0
}
