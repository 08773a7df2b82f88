//! Transmissions as writers give them and readers get them.

/// What transmissions have in common. Indices are those of the description; -1 is none.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Sort {
    /// How long it is on the air, in nanoseconds, with preamble and PLCP header.
    pub airtime: i64,
    /// The node that it is for.
    pub to: i64,
    /// The flow of the packet in it, or that it is sent for.
    pub flow: i64,
    /// Place in the enumeration `carries`.
    pub carries: i64,
    /// Place in the enumeration `kind`.
    pub kind: i64,
    /// The node that sends.
    pub from: i64,
    /// MAC bytes, FCS included.
    pub bytes: i64,
    /// Rate of its payload in bits per second.
    pub rate: i64,
    /// Its duration field in nanoseconds.
    pub nav: i64,
}

impl Sort {
    /// As a row of the table.
    pub(crate) fn row(&self) -> [i64; 9] {
        let Sort { airtime, to, flow, carries, kind, from, bytes, rate, nav } = *self;
        [from, to, kind, airtime, bytes, rate, nav, flow, carries]
    }

    pub(crate) fn of_row([from, to, kind, airtime, bytes, rate, nav, flow, carries]: [i64; 9]) -> Sort {
        Sort { airtime, to, flow, carries, kind, from, bytes, rate, nav }
    }

    /// Is it CTS, ACK or block ack?
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self.kind, CTS | ACK | BLOCK_ACK)
    }

    /// Is it RTS, DATA or a request, which may begin an exchange?
    pub(crate) fn may_begin(&self) -> bool {
        matches!(self.kind, RTS | DATA | BLOCK_ACK_REQUEST)
    }

    /// What becomes of it if all goes well.
    pub(crate) fn usual(&self) -> i64 {
        i64::from(self.to < 0 || self.to == self.from)
    }
}

/// Places in the enumeration `kind`.
pub(crate) const RTS: i64 = 0;
pub(crate) const CTS: i64 = 1;
pub(crate) const DATA: i64 = 2;
pub(crate) const ACK: i64 = 3;
pub(crate) const BLOCK_ACK_REQUEST: i64 = 4;
pub(crate) const BLOCK_ACK: i64 = 5;

/// A transmission, but for its sort. The layout of `transmissions` says what its values mean.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Transmission {
    /// When its first bit leaves the sender, in nanoseconds.
    pub start: i64,
    /// Which try it is.
    pub tries: i64,
    /// Slots that did not count.
    pub frozen: i64,
    /// Since its packet is at the head of the line, in nanoseconds; -1 if it contends since the sender's last
    /// exchange.
    pub waited: i64,
    /// Packets in the sender's queue.
    pub queue: i64,
    /// Number of its packet.
    pub packet: i64,
    /// Place in the enumeration `outcome`.
    pub outcome: i64,
    /// The node whose frame destroyed it; -1 for none.
    pub collided: i64,
    /// Place in the enumeration `overlap`.
    pub overlap: i64,
    /// Nodes that set the NAV by it, each once, and for how long after its end, in nanoseconds.
    pub reserves: Vec<(u32, i64)>,
    /// Packets of an aggregate.
    pub mpdus: Vec<Mpdu>,
}

/// A packet of an aggregate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Mpdu {
    /// The index of its flow, and its place in the enumeration `carries`.
    pub stream: [i64; 2],
    /// Number of the packet.
    pub packet: i64,
    /// Place in the enumeration `outcome`; 0 if it arrived.
    pub outcome: i64,
}
