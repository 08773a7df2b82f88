//! Why a run's flows got what they got: what each hop did for each flow, and which frames were lost to what.

use super::losses;
use super::table::{At, Cell, Column, Description, Table, table};
use multihop_core::{DropCause, FrameKind};

/// What a run says of causes. Everything counts from the end of the warm-up; rows are in the order of their
/// indices.
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

/// The tables of causes, in the order in which they are written.
pub fn cause_tables() -> Vec<Description> {
    vec![
        Description::of::<HopOutcome>(),
        Description::of::<DropOutcome>(),
        Description::of::<LossOutcome>(),
        Description::of::<CollisionOutcome>(),
    ]
}

table! {
    /// What a directed link did for a flow.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    HopOutcome, "hops", "a row per flow, direction and pair of nodes that exchanged its frames":

    /// index of the flow
    flow("1"): u32;
    /// 1 if this is of its acknowledgements (packets without payload), 0 if of its data
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
    /// frames given up after the retry limit
    given_up("1"): u64;
    /// from a frame's arrival in the queue to the head of the line, mean over the frames that ended
    wait_mean_s("s"): f64;
    /// from the head of the line to a frame's end, acknowledged or given up, mean over these frames
    service_mean_s("s"): f64;
    /// share of time that its exchanges took, once for each DATA transmission: from the first bit to the
    /// last, without back-off
    airtime("1"): f64;
}

table! {
    /// Packets of a flow that were dropped at a node.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    DropOutcome, "drops", "a row per flow, direction and node where its packets were dropped":

    /// index of the flow
    flow("1"): u32;
    /// 1 if these are its acknowledgements (packets without payload), 0 if its data
    feedback("1"): bool;
    /// index of the node
    node("1"): u32;
    /// By cause, in the order of [`DropCause::ALL`].
    dropped: [u64; DropCause::ALL.len()];
    ..losses("packets", |row: &DropOutcome| &row.dropped);
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
    /// An answer, CTS or ACK, that was decoded when it was no longer awaited; under ns-2's rules also a CTS
    /// after which the medium was not idle.
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

    /// What it means, of frames.
    const fn meaning(self) -> &'static str {
        match self {
            LossCause::Collision => {
                "another signal overlapped them at the receiver, without which they would have been decoded"
            }
            LossCause::Sending => "the receiver was itself transmitting",
            LossCause::Channel => "noise, or an error model: they would have been lost alone as well",
            LossCause::Weak => "they arrived too weak to be decoded, or not at all",
            LossCause::Off => "the radio of the sender or of the receiver was off",
            LossCause::Unanswered => {
                "they were decoded, but the receiver gave no answer: its NAV was set, or it was at something else"
            }
            LossCause::Late => {
                "answers that were no longer awaited; under ns-2's rules also a CTS after which the medium was not idle"
            }
        }
    }

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

table! {
    /// Unicast frames of one kind on a directed link that did not do what they were sent for.
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
    /// What they were.
    kind: FrameKind;
    /// what was sent: rts, cts, data or ack
    column frame(""): String = |at| name(at.row.kind).to_owned();
    /// How many, in the order of [`LossCause::ALL`].
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

table! {
    /// Frames that one interferer destroyed in the same way. Of several that overlapped a frame, the
    /// strongest at the receiver counts.
    #[derive(Clone, Copy, Debug, PartialEq)]
    CollisionOutcome, "collisions", "a row per receiver, sender, interferer and what these two sent":

    /// index of the node that the lost frames were for
    receiver("1"): u32;
    /// index of the node that sent them
    sender("1"): u32;
    /// What they were.
    kind: FrameKind;
    /// what they were: rts, cts, data or ack
    column frame(""): String = |at| name(at.row.kind).to_owned();
    /// index of the node whose frames destroyed them: the strongest of several
    interferer("1"): u32;
    /// What those frames were.
    interferer_kind: FrameKind;
    /// what those frames were
    column interferer_frame(""): String = |at| name(at.row.interferer_kind).to_owned();
    /// Whom those were for; none for broadcasts.
    interferer_node: Option<u32>;
    /// index of the node that those were for; missing for broadcasts
    column interferer_to("1"): Option<u64> = |at| at.row.interferer_node.map(u64::from);
    /// How they came to overlap.
    how: Overlap;
    /// `hidden`: the sender does not sense the interferer; `simultaneous`: it does, but both began within a
    /// slot; `sensed`: it does, and one of them sent nevertheless, as answers do
    column overlap(""): String = |at| at.row.how.name().to_owned();
    /// 1 if the interferer can decode frames of the receiver, its CTS above all
    warned("1"): bool;
    /// how many frames were lost so
    lost("frames"): u64;
}
