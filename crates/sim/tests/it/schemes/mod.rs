//! Congestion controls in whole runs.

mod abc;
mod bbr;
mod early_drop;
mod ewccp;
mod explicit;
mod explicit_wired;
mod marking;
mod media;
mod prague;
mod quick_and_plenty;
mod route_failures;
mod signalling;
mod small_queues;
mod tfrc;
mod variants;
mod wcp;
