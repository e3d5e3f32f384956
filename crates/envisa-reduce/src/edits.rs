//! Edits of a text: a piece, and what stands in its place.

use crate::Piece;

/// A piece of a text, and what may stand in its place; nothing, if it may be left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// Byte range in the text.
    pub piece: Piece,
    /// What stands there instead.
    pub instead: String,
}

impl Edit {
    /// Leaves a piece out.
    pub fn leave_out(piece: Piece) -> Edit {
        Edit { piece, instead: String::new() }
    }

    /// Puts a text in a piece's place.
    pub fn replace(piece: Piece, instead: impl Into<String>) -> Edit {
        Edit { piece, instead: instead.into() }
    }
}

/// The text with edits made, of which those inside of another one are not; `None` where a piece is not one of the text.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|e| (e.piece.start, std::cmp::Reverse(e.piece.end)));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in sorted {
        if edit.piece.start < at {
            continue;
        }
        out.push_str(text.get(at..edit.piece.start)?);
        text.get(edit.piece.clone())?;
        out.push_str(&edit.instead);
        at = edit.piece.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
