//! Tail loss probes (RFC 8985, section 7): an acknowledgement that does not arrive is solicited by a segment.

use multihop_core::Span;

/// Added to two round trips (`TCP_TIMEOUT_MIN_US` of Linux).
const MARGIN: Span = Span::from_ms(2);

/// State of tail loss probes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailLossProbe {
    /// Whether a probe is to be sent now.
    pub is_due: bool,
    /// `TLP.end_seq`: end of the sent data when a probe was sent, until it is acknowledged.
    end: Option<u64>,
    /// `TLP.is_retrans`: whether that probe was a retransmission.
    is_retransmission: bool,
}

/// Acknowledgement, as far as a probe's outcome depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeAnswer {
    /// Acknowledgement number.
    pub una: u64,
    /// Whether the acknowledgement reports that data arrived twice.
    pub reports_duplicate: bool,
    /// Whether the acknowledgement reports no news: neither data nor another window.
    pub is_duplicate: bool,
}

impl TailLossProbe {
    /// Whether a probe was sent and not answered.
    pub fn is_outstanding(&self) -> bool {
        self.end.is_some()
    }

    /// Records that a probe is sent; `max` is the end of the sent data.
    pub fn on_sent(&mut self, max: u64, is_retransmission: bool) {
        *self = TailLossProbe { is_due: false, end: Some(max), is_retransmission };
    }

    /// Forgets the probe, after a timeout.
    pub fn clear(&mut self) {
        *self = TailLossProbe::default();
    }

    /// Processes an acknowledgement (section 7.4, `TLP_process_ack`). Returns whether it shows that the probe
    /// repaired a loss.
    pub fn on_ack(&mut self, answer: ProbeAnswer) -> bool {
        let Some(end) = self.end.filter(|end| answer.una >= *end) else { return false };
        if !self.is_retransmission || answer.reports_duplicate {
            self.end = None;
            return false;
        }
        let repaired = answer.una > end;
        if repaired || answer.is_duplicate {
            self.end = None;
        }
        repaired
    }
}

/// Time from the last transmission to a probe (section 7.2, `TLP_calc_PTO`). A single segment may wait for
/// the receiver's delayed acknowledgement, at most `ack_delay`.
pub(super) fn probe_timeout(srtt: Span, is_single: bool, ack_delay: Span) -> Span {
    srtt * 2 + if is_single { ack_delay } else { MARGIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: ProbeAnswer = ProbeAnswer { una: 5_000, reports_duplicate: false, is_duplicate: false };

    #[test]
    fn rfc_8985_7_2_a_single_segment_waits_for_a_delayed_acknowledgement() {
        let ms = Span::from_ms;
        assert_eq!(probe_timeout(ms(40), false, ms(200)), ms(82));
        assert_eq!(probe_timeout(ms(40), true, ms(200)), ms(280));
    }

    /// A probe of new data says nothing. A retransmission repaired a loss, unless a duplicate is reported.
    #[test]
    fn rfc_8985_7_4_a_retransmission_that_arrives_once_repaired_a_loss() {
        for (is_retransmission, answer, repaired, outstanding) in [
            (false, ANSWER, false, false),
            (true, ProbeAnswer { una: 4_999, ..ANSWER }, false, true),
            (true, ANSWER, false, true),
            (true, ProbeAnswer { is_duplicate: true, ..ANSWER }, false, false),
            (true, ProbeAnswer { reports_duplicate: true, ..ANSWER }, false, false),
            (true, ProbeAnswer { una: 5_001, ..ANSWER }, true, false),
        ] {
            let mut probe = TailLossProbe::default();
            probe.on_sent(5_000, is_retransmission);
            assert_eq!(probe.on_ack(answer), repaired, "{is_retransmission} {answer:?}");
            assert_eq!(probe.is_outstanding(), outstanding, "{is_retransmission} {answer:?}");
        }
    }
}
