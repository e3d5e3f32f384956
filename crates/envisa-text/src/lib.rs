//! vISA text: lexer, parser with recovery, printer.
