//! Why a run's flows got what they got: what each hop did for each flow, and which frames were lost to what.

use multihop_core::{DropCause, FrameKind};

/// What a run says of causes. Everything counts from the end of the warm-up; rows are in the order of their indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Causes {
    /// What each hop did for each flow.
    pub hops: Vec<HopOutcome>,
    /// Where packets of each flow were dropped.
    pub drops: Vec<DropOutcome>,
    /// Why frames did not do what they were sent for.
    pub losses: Vec<LossOutcome>,
    /// Which frames collided with which.
    pub collisions: Vec<CollisionOutcome>,
}

/// What a directed link did for a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HopOutcome {
    /// Index of the flow.
    pub flow: u32,
    /// Does this count its acknowledgements (frames without payload) rather than its data?
    pub feedback: bool,
    /// Index of the sender.
    pub from: u32,
    /// Index of the receiver.
    pub to: u32,
    /// RTS transmissions.
    pub rts: u64,
    /// DATA transmissions.
    pub data: u64,
    /// Frames acknowledged.
    pub acknowledged: u64,
    /// Frames given up.
    pub given_up: u64,
    /// From a frame's arrival in the queue to the head of the line, mean over the frames that ended, in seconds.
    pub wait_mean_s: f64,
    /// From the head of the line to the frame's end, acknowledged or given up, mean over these frames, in seconds.
    pub service_mean_s: f64,
    /// Share of time that its exchanges took, once for each DATA transmission: from the first bit to the last, without back-off.
    pub airtime: f64,
}

/// Packets of a flow that were dropped at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DropOutcome {
    /// Index of the flow.
    pub flow: u32,
    /// Are these its acknowledgements rather than its data?
    pub feedback: bool,
    /// Index of the node.
    pub node: u32,
    /// By cause, in the order of [`DropCause::ALL`].
    pub dropped: [u64; DropCause::ALL.len()],
}

/// Why a unicast frame did not do what it was sent for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LossCause {
    /// Another signal overlapped it at the receiver, without which it would have been decoded.
    Collision,
    /// The receiver was itself transmitting.
    Sending,
    /// Noise, or an error model: it would have been lost alone as well.
    Channel,
    /// It arrived too weak to be decoded, or not at all.
    Weak,
    /// The radio of the sender or of the receiver was off.
    Off,
    /// It was decoded, but the receiver gave no answer: its NAV was set, or it was at something else.
    Unanswered,
    /// An answer, CTS or ACK, that was decoded when it was no longer awaited; under ns-2's rules also a CTS after which the medium
    /// was not idle.
    Late,
}

impl LossCause {
    /// All causes, in the order of [`LossOutcome::lost`].
    pub const ALL: [LossCause; 7] = [
        LossCause::Collision,
        LossCause::Sending,
        LossCause::Channel,
        LossCause::Weak,
        LossCause::Off,
        LossCause::Unanswered,
        LossCause::Late,
    ];

    /// The name of its column.
    pub const fn name(self) -> &'static str {
        match self {
            LossCause::Collision => "lost_collision",
            LossCause::Sending => "lost_receiver_sending",
            LossCause::Channel => "lost_channel",
            LossCause::Weak => "lost_weak",
            LossCause::Off => "lost_off",
            LossCause::Unanswered => "unanswered",
            LossCause::Late => "late",
        }
    }
}

/// Unicast frames of one kind on a directed link that did not do what they were sent for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossOutcome {
    /// Index of the sender.
    pub from: u32,
    /// Index of the receiver.
    pub to: u32,
    /// What they were.
    pub kind: FrameKind,
    /// How many, in the order of [`LossCause::ALL`].
    pub lost: [u64; LossCause::ALL.len()],
}

/// How two frames came to overlap.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Overlap {
    /// The sender of the lost frame does not sense the interferer.
    Hidden,
    /// It does, but both began within a slot of each other.
    Simultaneous,
    /// It does, and transmitted nevertheless, or the interferer did: answers do not sense.
    Sensed,
}

impl Overlap {
    /// What tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Overlap::Hidden => "hidden",
            Overlap::Simultaneous => "simultaneous",
            Overlap::Sensed => "sensed",
        }
    }
}

/// Frames that one interferer destroyed in the same way. Of several that overlapped a frame, the strongest at the receiver counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollisionOutcome {
    /// Index of the node that the lost frames were for.
    pub receiver: u32,
    /// Index of the node that sent them.
    pub sender: u32,
    /// What they were.
    pub kind: FrameKind,
    /// Index of the node whose frames destroyed them.
    pub interferer: u32,
    /// What those frames were.
    pub interferer_kind: FrameKind,
    /// Index of the node that those were for; none for broadcasts.
    pub interferer_to: Option<u32>,
    /// How they came to overlap.
    pub overlap: Overlap,
    /// Can the interferer decode frames of the receiver, its CTS above all?
    pub warned: bool,
    /// How many frames were lost so.
    pub lost: u64,
}
