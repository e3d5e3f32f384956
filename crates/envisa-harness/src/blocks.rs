//! Blocks of pages that commands write, between the lines `<!-- begin NAME -->` and `<!-- end NAME -->`. Each command has its own
//! block and leaves the rest of the page alone.

/// The content of a document's block, where there is one.
pub fn block<'a>(document: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = document.split_once(&format!("<!-- begin {name} -->\n"))?;
    Some(rest.split_once(&format!("<!-- end {name} -->"))?.0)
}

/// Puts a section into a document's block, or, where there is none, into one at the document's end.
pub fn replace_block(document: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- begin {name} -->"), format!("<!-- end {name} -->"));
    let block = format!("{begin}\n{}\n{end}", section.trim_end());
    match (document.find(&begin), document.find(&end)) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{block}{}", &document[..from], &document[to + end.len()..])
        }
        _ => format!("{}\n\n{block}\n", document.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_replaced() {
        let once = replace_block("# P\n", "a", "one\n");
        assert_eq!(once, "# P\n\n<!-- begin a -->\none\n<!-- end a -->\n");
        let two = replace_block(&once, "b", "two");
        assert_eq!((block(&two, "a"), block(&two, "b")), (Some("one\n"), Some("two\n")));
        assert_eq!(block(&once, "b"), None);
        assert_eq!(replace_block(&two, "a", "three"), two.replace("one", "three"));
    }
}
