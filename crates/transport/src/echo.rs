//! What a receiver returns of the congestion headers that came.

use multihop_core::{Feedback, RcpHeader, XcpHeader};

/// What the next acknowledgement returns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Echo(Feedback);

impl Echo {
    /// A segment came. Of XCP, changes of throughput add up: each packet has its own, however few acknowledgements there are. Of
    /// RCP, the latest rate counts.
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
        }
    }

    /// An acknowledgement leaves. What is left of XCP is nothing to return; RCP's rate stays.
    pub fn take(&mut self) -> Feedback {
        let returned = self.0;
        if let Feedback::Xcp(sum) = &mut self.0 {
            sum.reverse = 0;
        }
        returned
    }
}
