//! The CISA binary: reader and writer, walking the instruction table.
