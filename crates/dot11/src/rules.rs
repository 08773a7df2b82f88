//! The rules of the distributed coordination function, and where ns-2 departs from them.
//!
//! One [`DcfRules`] value names every difference. [`DcfRules::IEEE`] is the default; [`DcfRules::NS2`] is
//! what published simulations ran on (ns-2.35, `mac/mac-802_11.cc`), and what is cross-checked with ns-2;
//! [`DcfRules::BIANCHI`] is what the best known closed form assumes. Clauses are those of IEEE 802.11-2012.

use multihop_core::{Span, parameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a back-off is drawn from a contention window `cw`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackoffDraw {
    /// Uniform in 0..=cw (9.3.3; `ieee`).
    Inclusive,
    /// Uniform in 0..cw, as ns-2's `random % cw` (`ns2`).
    Exclusive,
}

/// What a station does after a frame that it could not decode.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Eifs")]
pub enum EifsRule {
    /// It waits EIFS instead of DIFS, until a correct frame resynchronizes it (9.3.2.3.7; `ieee`).
    UntilCorrectFrame,
    /// It sets its NAV to EIFS, which nothing cancels, and then waits DIFS (`ns2`).
    AsNav,
    /// It waits DIFS as always (the assumption of Bianchi 2000).
    Never,
}

/// The allowance of ns-2 for the propagation of a response, one way.
pub const NS2_PROPAGATION: Span = Span::from_us(2);

/// How long a sender waits for a CTS or an ACK.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum ResponseTimeout {
    /// SIFS + slot + PHY-RX-START delay after the end of its frame; a frame that began by then is heard to
    /// its end (9.3.2.8).
    FirstBit,
    /// SIFS + the airtime of the whole response + twice this propagation allowance, whatever is heard
    /// meanwhile.
    WholeResponse {
        /// Allowance for one way.
        propagation: Span,
    },
    /// As long as EIFS, less DIFS, whatever is heard meanwhile: with the DIFS that follows, colliders wait as
    /// long as those that could not decode the collision. Where the response is longer than the ACK that EIFS
    /// allows for, EIFS allows for the response.
    Eifs,
}

/// How fractions of a microsecond are treated.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
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

parameters! {
    ($)
    /// A rule set for the DCF. Each field is one named difference; by default they are the standard's.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    DcfRules, listed by dcf_rules:
    /// How a back-off is drawn from a contention window. `ieee`: inclusive (9.3.3), `ns2`: exclusive.
    backoff_draw: [BackoffDraw] = BackoffDraw::Inclusive;
    /// A packet that finds the medium idle for DIFS, with no back-off pending, is sent at once (9.3.4.2).
    /// `ieee`: true, `ns2`: false, it always backs off.
    immediate_access: bool = true;
    /// What a station does after a frame that it could not decode. `ieee`: until-correct-frame, `ns2`:
    /// as-nav.
    eifs: [EifsRule] = EifsRule::UntilCorrectFrame;
    /// How long a sender waits for a CTS or an ACK. `ieee`: first-bit, `ns2`: whole-response, `bianchi`:
    /// eifs.
    response_timeout: (ResponseTimeout as ResponseTimeout = ResponseTimeout::FirstBit) = ResponseTimeout::FirstBit;
    /// How long a signal has to be there before a station senses it (aCCATime): what it begins until then
    /// collides. Stations whose slots begin at other instants, as after EIFS or a response that is overdue,
    /// collide more by it. Usually nothing; ns-3 has 4 us, in which it detects a preamble, and the standard
    /// less than that (17.4.4).
    cca_time: Span from "0 s" to "9 us" = Span::ZERO;
    /// MAC header and FCS of a DATA frame. `ieee`: 28 B (24 + 4; 8.2.3), in 802.11n, ac and ax 30 B, with the
    /// field of quality of service; `ns2`: 34 B (30 + 4).
    data_header: Bytes from "0 B" to "256 B" = 28;
    /// LLC/SNAP header of each network packet. `ieee`: 8 B, `ns2`: 0 B.
    llc_header: Bytes from "0 B" to "256 B" = 8;
    /// Delay between the network layer and the interface queue, each way. `ieee`: 0 s, `ns2`: 25 us (its
    /// `LL`).
    link_layer_delay: Span from "0 s" to "1 s" = Span::ZERO;
    {
        /// A back-off frozen by a busy medium has one slot less to go, as if the busy period were a slot: the
        /// convention of Bianchi's chain (2000). The standard counts only idle slots. `bianchi`: true.
        busy_period_counts_as_slot: bool = false;
        /// A back-off waits a whole DIFS from where it begins or resumes, even in a medium that has long been
        /// idle. By the standard, an inter-frame space that has passed already counts. `ns2`, `bianchi`: true.
        fresh_difs: bool = false;
        /// Fractions of microseconds in duration fields. `ieee`: up (8.2.4.2), `ns2`: nearest.
        duration_field: Microseconds = Microseconds::Up;
        /// Fractions of microseconds in the airtime of direct-sequence payloads. `ieee`: up (17.2.3.6, 17.3.4),
        /// `ns2`: exact.
        airtime: Microseconds = Microseconds::Up;
        /// A CTS is withheld while the medium is physically busy, not only while the NAV is set (ns-2's
        /// `is_idle`). `ns2`: true.
        cts_needs_idle_medium: bool = false;
        /// After a CTS, DATA is sent only if medium and NAV are idle; otherwise the window is doubled and the
        /// exchange starts again (ns-2's `check_pktTx`). The standard sends SIFS after the CTS regardless. `ns2`:
        /// true.
        data_needs_idle_medium: bool = false;
        /// A DATA frame above the RTS threshold is accepted only right after one's own CTS (ns-2's `recvDATA`).
        /// `ns2`: true.
        data_needs_own_cts: bool = false;
        /// An RTS that arrives while waiting for a CTS or ACK is answered once that wait has failed (9.3.2.8).
        /// `ieee`: true, `ns2`: false, it is ignored.
        answer_rts_while_waiting: bool = true;
        /// A NAV set by an overheard RTS is cleared if no frame begins within 2 SIFS + CTS + PHY-RX-START delay +
        /// 2 slots (9.3.2.4). `ieee`: true.
        nav_reset_after_rts: bool = true;
        /// Frames of exactly the RTS threshold use RTS as well. The standard's threshold is exceeded, not reached
        /// (9.3.5). `ns2`: true.
        rts_at_threshold: bool = false;
    }
}

impl DcfRules {
    /// The standard (IEEE 802.11-2012, clause 9.3).
    pub const IEEE: DcfRules = DcfRules::DEFAULT;

    /// The assumptions of Bianchi's model (IEEE JSAC 18(3), 2000), for comparison with it: a busy period
    /// counts as a slot for those whose back-off it freezes, and after a collision the colliders wait as long
    /// as everyone else, EIFS, at whatever rate responses are sent. It is exact with a propagation delay of
    /// zero.
    pub const BIANCHI: DcfRules = DcfRules {
        busy_period_counts_as_slot: true,
        fresh_difs: true,
        response_timeout: ResponseTimeout::Eifs,
        ..DcfRules::IEEE
    };

    /// The same where DATA frames are those of quality of service: their header has two bytes more
    /// (802.11-2016, 9.2.4.5).
    #[must_use]
    pub const fn with_quality_of_service(self) -> DcfRules {
        DcfRules { data_header: self.data_header + 2, ..self }
    }

    /// ns-2.35.
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
