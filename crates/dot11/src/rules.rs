//! Rules of the distributed coordination function, and the deviations of ns-2.
//!
//! Each field of [`DcfRules`] is one deviation. [`DcfRules::IEEE`] is the default. [`DcfRules::NS2`] is the
//! MAC of published simulations (ns-2.35, `mac/mac-802_11.cc`) and of the cross-checks with ns-2.
//! [`DcfRules::BIANCHI`] has the assumptions of Bianchi's closed form. Clauses are those of IEEE 802.11-2012.

use multihop_config::parameters;
use multihop_core::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Range of a back-off drawn from a contention window `cw`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackoffDraw {
    /// Uniform in 0..=cw (9.3.3; `ieee`).
    Inclusive,
    /// Uniform in 0..cw, as ns-2's `random % cw` (`ns2`).
    Exclusive,
}

/// Deferral after a frame that the station could not decode.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Eifs")]
pub enum EifsRule {
    /// The station defers for EIFS instead of DIFS until a correct frame resynchronizes it (9.3.2.3.7;
    /// `ieee`).
    UntilCorrectFrame,
    /// The station sets its NAV to EIFS, which nothing cancels, and then defers for DIFS (`ns2`).
    AsNav,
    /// The station defers for DIFS as always (assumption of Bianchi 2000).
    Never,
}

/// One-way propagation delay that ns-2 allows for a response.
pub const NS2_PROPAGATION: Span = Span::from_us(2);

/// Timeout of a sender for a CTS or an ACK.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum ResponseTimeout {
    /// SIFS + slot + PHY-RX-START delay after the end of the sender's frame. A frame that has begun by then
    /// is received to its end (9.3.2.8).
    FirstBit,
    /// SIFS + airtime of the response + twice the propagation allowance, whatever is received meanwhile.
    WholeResponse {
        /// Propagation allowance for one way.
        propagation: Span,
    },
    /// EIFS minus DIFS, whatever is received meanwhile. With the DIFS that follows, colliding stations defer
    /// as long as those that could not decode the collision. If the response is longer than the ACK in EIFS,
    /// EIFS counts the response.
    Eifs,
}

/// Rounding of fractions of a microsecond.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Microseconds {
    /// Rounded up, as the standard says for durations (8.2.4.2) and CCK airtimes (17.2.3.6, 17.3.4).
    Up,
    /// Rounded to the nearest microsecond (ns-2's duration fields).
    Nearest,
    /// Exact, without rounding (ns-2's airtimes).
    Exact,
}

impl Microseconds {
    /// Rounds a span.
    #[must_use]
    pub const fn apply(self, span: Span) -> Span {
        match self {
            Microseconds::Up => span.rounded_up(Span::from_us(1)),
            Microseconds::Nearest => span.rounded(Span::from_us(1)),
            Microseconds::Exact => span,
        }
    }
}

parameters! {
    ($)
    /// Rule set for the DCF. Each field is one deviation; the defaults are those of the standard.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    DcfRules, listed by dcf_rules:
    /// Deferral after a frame that the station could not decode. `ieee`: until-correct-frame, `ns2`: as-nav.
    eifs: [EifsRule] = EifsRule::UntilCorrectFrame;
    /// Timeout of a sender for a CTS or an ACK. `ieee`: first-bit, `ns2`: whole-response, `bianchi`: eifs.
    response_timeout: (ResponseTimeout as ResponseTimeout = ResponseTimeout::FirstBit) = ResponseTimeout::FirstBit;
    /// Time for which a signal must be present before a station senses it (aCCATime); transmissions that
    /// start earlier collide with it. Matters most for stations whose slots are not aligned, as after EIFS or
    /// a missing response. Default 0 s; ns-3 has 4 us, its preamble detection, and the standard less than 4
    /// us (17.4.4).
    cca_time: Span from "0 s" to "9 us" = Span::ZERO;
    /// MAC header and FCS of a DATA frame. `ieee`: 28 B (24 + 4; 8.2.3), in 802.11n, ac and ax 30 B, with the
    /// QoS control field; `ns2`: 34 B (30 + 4).
    data_header: Bytes from "0 B" to "256 B" = 28;
    /// LLC/SNAP header of each network packet. `ieee`: 8 B, `ns2`: 0 B.
    llc_header: Bytes from "0 B" to "256 B" = 8;
    // Rows above are keys of `[mac.override]`. Rows in braces are not: only rule sets choose their values.
    {
        /// Range of the back-off drawn from a contention window. `ieee`: inclusive (9.3.3), `ns2`: exclusive.
        backoff_draw: BackoffDraw = BackoffDraw::Inclusive;
        /// A packet that finds the medium idle for DIFS, with no back-off pending, is sent at once (9.3.4.2).
        /// `ieee`: true, `ns2`: false: every packet backs off.
        immediate_access: bool = true;
        /// A busy period counts as a slot of the back-off that it freezes, as in Bianchi's chain (2000). The
        /// standard counts only idle slots. `bianchi`: true.
        busy_period_counts_as_slot: bool = false;
        /// A back-off defers for a whole DIFS when it starts or resumes, even if the medium has long been
        /// idle. In the standard, an inter-frame space that has already passed counts. `ns2`, `bianchi`:
        /// true.
        fresh_difs: bool = false;
        /// Rounding of duration fields to microseconds. `ieee`: up (8.2.4.2), `ns2`: nearest.
        duration_field: Microseconds = Microseconds::Up;
        /// Rounding of the airtime of direct-sequence payloads to microseconds. `ieee`: up (17.2.3.6,
        /// 17.3.4), `ns2`: exact.
        airtime: Microseconds = Microseconds::Up;
        /// A CTS is withheld while the medium is physically busy, not only while the NAV is set (ns-2's
        /// `is_idle`). `ns2`: true.
        cts_needs_idle_medium: bool = false;
        /// After a CTS, DATA is sent only if medium and NAV are idle; otherwise the window is doubled and the
        /// exchange starts again (ns-2's `check_pktTx`). The standard sends SIFS after the CTS regardless.
        /// `ns2`: true.
        data_needs_idle_medium: bool = false;
        /// A DATA frame above the RTS threshold is accepted only directly after the station's own CTS (ns-2's
        /// `recvDATA`). `ns2`: true.
        data_needs_own_cts: bool = false;
        /// An RTS received while the station waits for a CTS or ACK is answered after that timeout (9.3.2.8).
        /// `ieee`: true, `ns2`: false: the RTS is ignored.
        answer_rts_while_waiting: bool = true;
        /// A NAV set by an overheard RTS is reset if no frame begins within 2 SIFS + CTS + PHY-RX-START delay
        /// + 2 slots (9.3.2.4). `ieee`: true.
        nav_reset_after_rts: bool = true;
        /// Frames of exactly the RTS threshold use RTS. In the standard only frames above the threshold do
        /// (9.3.5). `ns2`: true.
        rts_at_threshold: bool = false;
        /// Delay between network layer and interface queue, in each direction. `ieee`: 0 s, `ns2`: 25 us (the
        /// delay of `LL`).
        link_layer_delay: Span = Span::ZERO;
    }
}

impl DcfRules {
    /// Rules of the standard (IEEE 802.11-2012, clause 9.3).
    pub const IEEE: DcfRules = DcfRules::DEFAULT;

    /// Assumptions of Bianchi's model (IEEE JSAC 18(3), 2000), for comparison with it. A busy period counts
    /// as a slot for back-offs that it freezes. After a collision the colliding stations defer for EIFS like
    /// all others, at whatever rate responses are sent. Agreement is exact at a propagation delay of zero.
    pub const BIANCHI: DcfRules = DcfRules {
        busy_period_counts_as_slot: true,
        fresh_difs: true,
        response_timeout: ResponseTimeout::Eifs,
        ..DcfRules::IEEE
    };

    /// These rules with QoS DATA frames, whose header has two more bytes (802.11-2016, 9.2.4.5).
    #[must_use]
    pub const fn with_quality_of_service(self) -> DcfRules {
        DcfRules { data_header: self.data_header + 2, ..self }
    }

    /// Rules of ns-2.35.
    pub const NS2: DcfRules = DcfRules {
        backoff_draw: BackoffDraw::Exclusive,
        immediate_access: false,
        fresh_difs: true,
        eifs: EifsRule::AsNav,
        response_timeout: ResponseTimeout::WholeResponse { propagation: NS2_PROPAGATION },
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
        ..DcfRules::IEEE
    };
}
