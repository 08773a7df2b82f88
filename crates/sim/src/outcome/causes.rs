//! Causes of flows' results: the work of each hop for each flow, and the causes of frame losses.

use super::losses;
use super::table::{At, Cell, Column, Description, Table, table};
use multihop_core::{DropCause, FrameKind};

/// Causes that a run records, from the end of the warm-up on. Rows are sorted by their indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Causes {
    /// Work of each hop for each flow.
    pub hops: Vec<HopOutcome>,
    /// Packets of each flow dropped at each node.
    pub drops: Vec<DropOutcome>,
    /// Failed frames by cause.
    pub losses: Vec<LossOutcome>,
    /// Collisions by the frames involved.
    pub collisions: Vec<CollisionOutcome>,
}

/// Tables of causes, in the order in which they are written.
pub fn cause_tables() -> Vec<Description> {
    vec![
        Description::of::<HopOutcome>(),
        Description::of::<DropOutcome>(),
        Description::of::<LossOutcome>(),
        Description::of::<CollisionOutcome>(),
    ]
}

table! {
    /// Work of a directed link for a flow.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    HopOutcome, "hops", "a row per flow, direction and pair of nodes that exchanged its frames":

    /// index of the flow
    flow("1"): u32;
    /// 1 if the row counts acknowledgements (packets without payload), 0 if it counts data
    feedback("1"): bool;
    /// Index of the sender.
    from: u32;
    /// index of the node that sends
    column sender("1"): u32 = |at| at.row.from;
    /// Index of the receiver.
    to: u32;
    /// index of the node that receives
    column receiver("1"): u32 = |at| at.row.to;
    /// RTS transmissions
    rts("1"): u64;
    /// DATA transmissions
    data("1"): u64;
    /// frames acknowledged
    acknowledged("1"): u64;
    /// frames given up at the retry limit
    given_up("1"): u64;
    /// time from a frame's arrival in the queue to the head of the line, mean over the frames that ended
    wait_mean_s("s"): f64;
    /// time from the head of the line to a frame's end, acknowledged or given up, mean over the frames that
    /// ended
    service_mean_s("s"): f64;
    /// share of time that the hop's exchanges took, once for each DATA transmission: from the first bit to
    /// the last, without back-off
    airtime("1"): f64;
}

table! {
    /// Packets of a flow that were dropped at a node.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    DropOutcome, "drops", "a row per flow, direction and node where its packets were dropped":

    /// index of the flow
    flow("1"): u32;
    /// 1 if the row counts acknowledgements (packets without payload), 0 if it counts data
    feedback("1"): bool;
    /// index of the node
    node("1"): u32;
    /// Packets dropped by cause, in the order of [`DropCause::ALL`].
    dropped: [u64; DropCause::ALL.len()];
    ..losses("packets", |row: &DropOutcome| &row.dropped);
}

/// Cause of the failure of a unicast frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LossCause {
    /// Collision: the receiver would have decoded the frame without an overlapping signal.
    Collision,
    /// The receiver was itself transmitting.
    Sending,
    /// Noise or an error model: the frame would have been lost without interference too.
    Channel,
    /// The frame arrived too weak to be decoded, or not at all.
    Weak,
    /// The radio of the sender or of the receiver was off.
    Off,
    /// The receiver decoded the frame but did not respond: its NAV was set, or it was in another exchange.
    Unanswered,
    /// A response, CTS or ACK, was decoded after its timeout; under ns-2's rules also a CTS after which the
    /// medium was not idle.
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

    /// Meaning of the cause's column.
    const fn meaning(self) -> &'static str {
        match self {
            LossCause::Collision => {
                "collision: the receiver would have decoded them without an overlapping signal"
            }
            LossCause::Sending => "the receiver was itself transmitting",
            LossCause::Channel => {
                "noise or an error model: they would have been lost without interference too"
            }
            LossCause::Weak => "they arrived too weak to be decoded, or not at all",
            LossCause::Off => "the radio of the sender or of the receiver was off",
            LossCause::Unanswered => {
                "the receiver decoded them but did not respond: its NAV was set, or it was in another exchange"
            }
            LossCause::Late => {
                "responses decoded after their timeout; under ns-2's rules also a CTS after which the medium was not idle"
            }
        }
    }

    /// Name of the cause's column.
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

table! {
    /// Failed unicast frames of one kind on a directed link.
    #[derive(Clone, Copy, Debug, PartialEq)]
    LossOutcome, "losses", "a row per directed link and kind of frame that failed there":

    /// Index of the sender.
    from: u32;
    /// index of the node that sends
    column sender("1"): u32 = |at| at.row.from;
    /// Index of the receiver.
    to: u32;
    /// index of the node that receives
    column receiver("1"): u32 = |at| at.row.to;
    /// Kind of the failed frames.
    kind: FrameKind;
    /// kind of frame: rts, cts, data or ack
    column frame(""): String = |at| name(at.row.kind).to_owned();
    /// Failed frames by cause, in the order of [`LossCause::ALL`].
    lost: [u64; LossCause::ALL.len()];
    ..failures();
}

fn failures() -> impl Iterator<Item = Column<LossOutcome>> {
    (0..).zip(LossCause::ALL).map(|(index, cause): (usize, _)| {
        let value = move |at: &At<LossOutcome>| at.row.lost[index];
        Column::new(cause.name(), "frames", format!("frames: {}", cause.meaning()), Cell::values(value))
    })
}

fn name(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Rts => "rts",
        FrameKind::Cts => "cts",
        FrameKind::Data => "data",
        FrameKind::Ack => "ack",
        FrameKind::BlockAckRequest => "block-ack-request",
        FrameKind::BlockAck => "block-ack",
        FrameKind::CfEnd => "cf-end",
    }
}

/// Reason why two frames overlapped.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Overlap {
    /// The sender of the lost frame does not sense the interferer.
    Hidden,
    /// The sender senses the interferer, but both began within a slot of each other.
    Simultaneous,
    /// The sender senses the interferer, but one of them sent without sensing, as responses do.
    Sensed,
}

impl Overlap {
    /// Name of the reason in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Overlap::Hidden => "hidden",
            Overlap::Simultaneous => "simultaneous",
            Overlap::Sensed => "sensed",
        }
    }
}

table! {
    /// Frames that one interferer destroyed for the same reason. If several signals overlapped a frame, the
    /// strongest at the receiver counts.
    #[derive(Clone, Copy, Debug, PartialEq)]
    CollisionOutcome, "collisions", "a row per receiver, sender, interferer and what these two sent":

    /// index of the node that the lost frames were sent to
    receiver("1"): u32;
    /// index of the node that sent the lost frames
    sender("1"): u32;
    /// Kind of the lost frames.
    kind: FrameKind;
    /// kind of the lost frames: rts, cts, data or ack
    column frame(""): String = |at| name(at.row.kind).to_owned();
    /// index of the node whose frames destroyed them: the strongest of several
    interferer("1"): u32;
    /// Kind of the interferer's frames.
    interferer_kind: FrameKind;
    /// kind of the interferer's frames
    column interferer_frame(""): String = |at| name(at.row.interferer_kind).to_owned();
    /// Receiver of the interferer's frames; none for broadcasts.
    interferer_node: Option<u32>;
    /// index of the node that the interferer's frames were sent to; missing for broadcasts
    column interferer_to("1"): Option<u64> = |at| at.row.interferer_node.map(u64::from);
    /// Reason of the overlap.
    how: Overlap;
    /// reason of the overlap; `hidden`: the sender does not sense the interferer; `simultaneous`: it does,
    /// but both began within a slot; `sensed`: it does, but one of them sent without sensing, as responses do
    column overlap(""): String = |at| at.row.how.name().to_owned();
    /// 1 if the interferer can decode frames of the receiver, such as its CTS
    warned("1"): bool;
    /// frames lost in this way
    lost("frames"): u64;
}
