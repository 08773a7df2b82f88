//! Knowledge of the links that share the medium, which routers of EWCCP and WCP broadcast to each other.
//!
//! | file | content |
//! |---|---|
//! | `table.rs` | table of known links: freshness, age |
//! | `broadcast.rs` | content and times of broadcasts |
//!
//! A router broadcasts its outgoing and incoming links. With one hop of signalling, the two ends of a link
//! together thus know all links with an end within reach of one of them.

mod broadcast;
mod table;

pub(crate) use broadcast::{BroadcastTimer, last_octets, read, write};
pub(crate) use table::{DirectedLink, KnownLink, LinkTable, Origin};
