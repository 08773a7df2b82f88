//! The rules of the distributed coordination function, and where ns-2 departs from them.
//!
//! One [`DcfRules`] value names every difference. [`DcfRules::IEEE`] is the default; [`DcfRules::NS2`] is what published
//! simulations ran on (ns-2.35, `mac/mac-802_11.cc`), and what is cross-checked with ns-2; [`DcfRules::BIANCHI`] is what the
//! best known closed form assumes. Clauses are those of IEEE 802.11-2012.

use multihop_core::Span;

/// How a back-off is drawn from a contention window `cw`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BackoffDraw {
    /// Uniform in `0..=cw` (9.3.3).
    Inclusive,
    /// Uniform in `0..cw`: ns-2 takes `random % cw`.
    Exclusive,
}

/// What a station does after a frame that it could not decode.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EifsRule {
    /// It waits EIFS instead of DIFS, until a correct frame resynchronizes it (9.3.2.3.7).
    UntilCorrectFrame,
    /// It sets its NAV to EIFS, which nothing cancels, and then waits DIFS (ns-2).
    AsNav,
    /// It waits DIFS as always (the assumption of Bianchi 2000).
    Never,
}

/// How long a sender waits for a CTS or an ACK.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ResponseTimeout {
    /// SIFS + slot + PHY-RX-START delay after the end of its frame; a frame that began by then is heard to its end (9.3.2.8).
    FirstBit,
    /// SIFS + the airtime of the whole response + twice this propagation allowance, whatever is heard meanwhile (ns-2: 2 us).
    WholeResponse {
        /// Allowance for one way.
        propagation: Span,
    },
    /// As long as EIFS, less DIFS, whatever is heard meanwhile: with the DIFS that follows, colliders wait as long as those that could
    /// not decode the collision. Where the response is longer than the ACK that EIFS allows for, EIFS allows for the response.
    Eifs,
}

/// How fractions of a microsecond are treated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Microseconds {
    /// Rounded up, as the standard says of durations (8.2.4.2) and of CCK airtimes (17.2.3.6, 17.3.4).
    Up,
    /// Rounded to the nearest (ns-2's duration fields).
    Nearest,
    /// Kept (ns-2's airtimes).
    Exact,
}

impl Microseconds {
    /// Applies the rule to a span.
    #[must_use]
    pub const fn apply(self, span: Span) -> Span {
        match self {
            Microseconds::Up => span.rounded_up(Span::from_us(1)),
            Microseconds::Nearest => span.rounded(Span::from_us(1)),
            Microseconds::Exact => span,
        }
    }
}

/// A rule set for the DCF. Each field is one named difference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DcfRules {
    /// How a back-off is drawn.
    pub backoff_draw: BackoffDraw,
    /// A packet that finds the medium idle for DIFS, with no back-off pending, is sent at once (9.3.4.2). ns-2 always backs off.
    pub immediate_access: bool,
    /// A back-off that was frozen by a busy medium has one slot less to go, as if the busy period were a slot: the convention
    /// of Bianchi's chain (2000). The standard counts only idle slots.
    pub busy_period_counts_as_slot: bool,
    /// A back-off waits for a whole DIFS from the instant at which it begins or resumes, even when the medium has long been idle
    /// (ns-2). By the standard, an IFS that has passed already counts.
    pub fresh_difs: bool,
    /// After an undecodable frame.
    pub eifs: EifsRule,
    /// How long to wait for a CTS or an ACK.
    pub response_timeout: ResponseTimeout,
    /// Fractions of microseconds in duration fields.
    pub duration_field: Microseconds,
    /// Fractions of microseconds in the airtime of 802.11b payloads.
    pub airtime: Microseconds,
    /// A CTS is withheld while the medium is physically busy too, not only while the NAV is set (ns-2's `is_idle`).
    pub cts_needs_idle_medium: bool,
    /// After a CTS, DATA is sent only if medium and NAV are idle; otherwise the window is doubled and the exchange starts again
    /// (ns-2's `check_pktTx`). The standard sends SIFS after the CTS regardless.
    pub data_needs_idle_medium: bool,
    /// A DATA frame above the RTS threshold is accepted only right after one's own CTS (ns-2's `recvDATA`).
    pub data_needs_own_cts: bool,
    /// An RTS that arrives while waiting for a CTS or ACK is answered once that wait has failed (9.3.2.8). ns-2 ignores it.
    pub answer_rts_while_waiting: bool,
    /// A NAV set by an overheard RTS is cleared if no frame begins within 2 SIFS + CTS + PHY-RX-START delay + 2 slots (9.3.2.4).
    pub nav_reset_after_rts: bool,
    /// Frames of exactly the RTS threshold use RTS as well (ns-2). The standard's threshold is exceeded, not reached (9.3.5).
    pub rts_at_threshold: bool,
    /// MAC header and FCS of a DATA frame, in bytes: 24 + 4 (8.2.3); ns-2 counts 30 + 4.
    pub data_header: u32,
    /// LLC/SNAP bytes in front of each network packet; ns-2 has none.
    pub llc_header: u32,
    /// Delay between the network layer and the interface queue, and back: 25 us in ns-2's `LL`.
    pub link_layer_delay: Span,
}

impl DcfRules {
    /// The standard (IEEE 802.11-2012, clause 9.3).
    pub const IEEE: DcfRules = DcfRules {
        backoff_draw: BackoffDraw::Inclusive,
        immediate_access: true,
        busy_period_counts_as_slot: false,
        fresh_difs: false,
        eifs: EifsRule::UntilCorrectFrame,
        response_timeout: ResponseTimeout::FirstBit,
        duration_field: Microseconds::Up,
        airtime: Microseconds::Up,
        cts_needs_idle_medium: false,
        data_needs_idle_medium: false,
        data_needs_own_cts: false,
        answer_rts_while_waiting: true,
        nav_reset_after_rts: true,
        rts_at_threshold: false,
        data_header: 28,
        llc_header: 8,
        link_layer_delay: Span::ZERO,
    };

    /// The assumptions of Bianchi's model (IEEE JSAC 18(3), 2000), for comparison with it: a busy period counts as a slot for
    /// those whose back-off it freezes, and after a collision the colliders wait as long as everyone else, EIFS, at whatever rate
    /// responses are sent. It is exact with a propagation delay of zero.
    pub const BIANCHI: DcfRules = DcfRules {
        busy_period_counts_as_slot: true,
        fresh_difs: true,
        response_timeout: ResponseTimeout::Eifs,
        ..DcfRules::IEEE
    };

    /// ns-2.35.
    pub const NS2: DcfRules = DcfRules {
        backoff_draw: BackoffDraw::Exclusive,
        immediate_access: false,
        busy_period_counts_as_slot: false,
        fresh_difs: true,
        eifs: EifsRule::AsNav,
        response_timeout: ResponseTimeout::WholeResponse { propagation: Span::from_us(2) },
        duration_field: Microseconds::Nearest,
        airtime: Microseconds::Exact,
        cts_needs_idle_medium: true,
        data_needs_idle_medium: true,
        data_needs_own_cts: true,
        answer_rts_while_waiting: false,
        nav_reset_after_rts: false,
        rts_at_threshold: true,
        data_header: 34,
        llc_header: 0,
        link_layer_delay: Span::from_us(25),
    };
}
