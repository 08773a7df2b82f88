//! Congestion controls in whole runs.

mod abc;
mod bbr;
mod early_drop;
mod ewccp;
mod explicit;
mod explicit_wired;
mod marking;
mod signalling;
mod tfrc;
mod variants;
