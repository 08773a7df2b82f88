//! Engine for WebAssembly: requests and answers in JSON.
//!
//! The crate holds no logic: [`multihop_scenario`] reads and edits scenarios, [`multihop_sim`] runs them, and
//! a [`Session`] holds the run in progress. `abi` is the whole interface to JavaScript: four functions over
//! linear memory, without generated glue. `playground/engine.js` is the other side.

mod abi;
mod requests;
mod tables;
mod view;

pub use requests::{Request, Session};
