//! Laws of the medium.

mod bit_errors;
mod powers;
mod sensed;
