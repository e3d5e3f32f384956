//! Rules of the project itself: which crate imports which, files and functions, links of documents, what must not compile.

mod circles;
mod compile_fail;
mod links;
mod rooms;
