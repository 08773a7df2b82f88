//! Integration tests of the crate in one binary, one module per subject.

mod accurate_ecn;
mod bursts;
mod controllers;
mod feedback;
mod given_up;
mod grants;
mod linux_growth;
mod persist;
mod pipe;
mod rack;
mod recorder;
mod sender_alone;
mod sender_deliveries;
mod sender_events;
mod sender_handshake;
mod small_queues;
mod tcp_recovery;
mod tfrc_receiver;
mod tfrc_segments;
mod tfrc_sender;
