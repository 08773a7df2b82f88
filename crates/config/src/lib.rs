//! The configuration language: how parameters are declared, written in files, checked and reported.
//!
//! * [`quantity`]: numbers with units, such as `"2 Mb/s"`.
//! * [`keys!`]: tables of a file. A row is a key with its type, range, default and meaning.
//! * [`parameters!`]: tables of the engine, of which a file may set each row.
//! * [`keys::Rule`]: what the JSON Schema of a key allows, checked against a value.
//! * [`parameter_error`]: what was found and what would do, as values of which sentences are made.

pub mod keys;
pub mod parameter_error;
pub mod quantity;

mod parameters;

pub use parameters::Written;

#[doc(hidden)]
pub use serde;
