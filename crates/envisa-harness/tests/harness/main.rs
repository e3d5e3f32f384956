//! Jobs and values, and what is no job and no value.

mod dumps;
mod hostile;
mod hostile_by_hand;
