//! Routing protocols in whole runs.

mod aodv;
mod dsdv;
mod dsr;
