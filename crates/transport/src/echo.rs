//! What a receiver returns of the congestion headers that came.

use multihop_core::{EwccpHeader, Feedback, RcpHeader, XcpHeader};

/// What the next acknowledgement returns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Echo(Feedback);

impl Echo {
    /// A segment came. Of XCP, changes of throughput add up: each packet has its own, however few acknowledgements there are. Of
    /// RCP, the latest rate counts. Of EWCCP, feedback adds up like XCP's, and so does the number of packets; the answer to a probe
    /// means something else and stands alone.
    pub fn note(&mut self, came: &Feedback) {
        match came {
            Feedback::None => {}
            Feedback::Xcp(header) => {
                let before = if let Feedback::Xcp(sum) = self.0 { sum.reverse } else { 0 };
                let reverse = before.saturating_add(header.delta);
                self.0 = Feedback::Xcp(XcpHeader { reverse, ..XcpHeader::default() });
            }
            Feedback::Rcp(header) => {
                self.0 = Feedback::Rcp(RcpHeader { reverse: header.rate, ..RcpHeader::default() });
            }
            Feedback::Ewccp(header) => {
                let EwccpHeader { probe, packets, feedback, .. } = *header;
                let before = if let Feedback::Ewccp(sum) = self.0 { sum } else { EwccpHeader::default() };
                let sum = if probe || before.probe {
                    EwccpHeader { probe, packets, feedback, ..EwccpHeader::default() }
                } else {
                    EwccpHeader {
                        packets: before.packets.saturating_add(packets),
                        feedback: before.feedback.saturating_add(feedback),
                        ..EwccpHeader::default()
                    }
                };
                self.0 = Feedback::Ewccp(sum);
            }
        }
    }

    /// An acknowledgement leaves. What is left of XCP and EWCCP is nothing to return; RCP's rate stays.
    pub fn take(&mut self) -> Feedback {
        let returned = self.0;
        match &mut self.0 {
            Feedback::Xcp(sum) => sum.reverse = 0,
            Feedback::Ewccp(sum) => *sum = EwccpHeader::default(),
            Feedback::None | Feedback::Rcp(_) => {}
        }
        returned
    }
}
