//! Laws of the medium: what it does to frames on the air.

mod bit_errors;
mod powers;
mod sensed;
