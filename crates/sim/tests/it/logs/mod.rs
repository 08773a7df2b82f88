//! What runs write besides tables.

mod airlog;
mod framelog;
