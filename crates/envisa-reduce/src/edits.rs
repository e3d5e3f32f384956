//! Edits of a text: pieces, and what stands in their places.

use crate::Piece;

/// Pieces of a text, and what may stand in their places; nothing, if they may be left out. All of them are changed, or none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// Byte ranges in the text, with what stands there instead.
    pub places: Vec<(Piece, String)>,
}

impl Edit {
    /// Leaves a piece out.
    pub fn leave_out(piece: Piece) -> Edit {
        Edit::replace(piece, "")
    }

    /// Puts a text in a piece's place.
    pub fn replace(piece: Piece, instead: impl Into<String>) -> Edit {
        Edit { places: vec![(piece, instead.into())] }
    }

    /// Both, or none.
    pub fn and(mut self, other: Edit) -> Edit {
        self.places.extend(other.places);
        self
    }

    /// Where it begins.
    pub fn start(&self) -> usize {
        self.places.iter().map(|(piece, _)| piece.start).min().unwrap_or(0)
    }

    /// Where it ends.
    pub fn end(&self) -> usize {
        self.places.iter().map(|(piece, _)| piece.end).max().unwrap_or(0)
    }
}

/// The text with edits made, of which places inside of another one are not; `None` where a piece is not one of the text.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut sorted: Vec<&(Piece, String)> = edits.iter().flat_map(|e| &e.places).collect();
    sorted.sort_by_key(|(piece, _)| (piece.start, std::cmp::Reverse(piece.end)));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (piece, instead) in sorted {
        if piece.start < at {
            continue;
        }
        out.push_str(text.get(at..piece.start)?);
        text.get(piece.clone())?;
        out.push_str(instead);
        at = piece.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
