//! What AODV's nodes say to each other, and how many bytes it takes.

use crate::config::AodvConfig;
use multihop_core::{NodeId, Span, Time};

/// What AODV's nodes say to each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AodvMessage {
    /// Who knows a way to the target?
    Request(Request),
    /// The sender knows one.
    Reply(Reply),
    /// The sender has no way to these any more.
    Error(Vec<Unreachable>),
    /// The sender, which has this sequence number, is a neighbour.
    Hello(u32),
}

/// A route request (RFC 3561, 5.1), which floods a part of the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// Who asks.
    pub(crate) source: NodeId,
    /// Its sequence number.
    pub(crate) source_sequence: u32,
    /// Number of the request among those of its source.
    pub(crate) number: u32,
    /// Who is looked for.
    pub(crate) target: NodeId,
    /// Routes with a smaller sequence number are no answer.
    pub(crate) target_sequence: u32,
    /// Hops from its source to who receives this.
    pub(crate) hops: u16,
    /// Hops that it may still go, that to who receives this included.
    pub(crate) reach: u16,
    /// When it was asked.
    pub(crate) asked: Time,
}

/// A route reply (5.2), which goes back to who asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// Who asked.
    pub(crate) to: NodeId,
    /// Who is found.
    pub(crate) target: NodeId,
    /// Sequence number of the route.
    pub(crate) sequence: u32,
    /// Hops from who receives this to the target.
    pub(crate) hops: u16,
    /// How long the route lives if no packet takes it.
    pub(crate) lifetime: Span,
    /// As in a request.
    pub(crate) reach: u16,
    /// When the request was asked.
    pub(crate) asked: Time,
}

/// A destination that a route error names (5.3).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Unreachable {
    pub(crate) destination: NodeId,
    /// Routes with a greater sequence number are not meant.
    pub(crate) sequence: u32,
}

impl AodvMessage {
    /// Bytes above the MAC, IP header included.
    pub(super) fn size(&self, sizes: &AodvConfig) -> u32 {
        match self {
            AodvMessage::Request(_) => sizes.request_size,
            AodvMessage::Reply(_) | AodvMessage::Hello(_) => sizes.reply_size,
            AodvMessage::Error(list) => sizes.error_size + sizes.error_entry_size * list.len() as u32,
        }
    }
}
