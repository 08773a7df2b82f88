//! The integration tests of the crate, in one binary: each module is a subject.

mod feedback;
mod given_up;
mod grants;
mod pipe;
mod sender_alone;
mod tcp_recovery;
mod tfrc_receiver;
mod tfrc_sender;
