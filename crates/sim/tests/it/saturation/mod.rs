//! Saturated cells, against a closed form and a second simulation.

mod bianchi;
mod slotted;
