//! The engine for WebAssembly: a request in, an answer out, both JSON.
//!
//! It holds no logic: [`multihop_scenario`] reads and edits scenarios, [`multihop_sim`] runs them, and a
//! [`Session`] is the run that is under way. `abi` is all that crosses to JavaScript: four functions over
//! linear memory, and no tool that would make glue. `playground/engine.js` is its other side.

mod abi;
mod requests;
mod tables;
mod view;

pub use requests::{Request, Session};
