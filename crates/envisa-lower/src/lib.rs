//! Lowering: a verified module and a platform become a Program that any engine can run.
