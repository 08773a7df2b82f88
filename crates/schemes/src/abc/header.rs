//! Feedback of an Accel-Brake Control receiver. The paper returns one bit for each packet in existing bits of
//! the TCP header, so that the feedback adds no bytes to packets here.

use multihop_core::{Ecn, HeaderBytes, Segment, header};
use multihop_transport::Echo;

header! {
    /// Numbers of accelerates and brakes that an acknowledgement of ABC reports
    pub struct BrakeCounts: "abc", 9, 0 of 5 {
        /// Packets that arrived marked as accelerates
        accelerates: u16 [1..3] "packets",
        /// Packets that arrived marked as brakes
        brakes: u16 [3..5] "packets",
    }
}

/// Receiver's echo of ABC: counts accelerates and brakes until the next acknowledgement reports them.
#[derive(Default)]
pub(crate) struct BrakeEcho {
    counts: BrakeCounts,
}

impl Echo for BrakeEcho {
    fn note(&mut self, segment: &Segment) {
        if segment.ecn != Ecn::NotCapable {
            let BrakeCounts { accelerates, brakes } = &mut self.counts;
            let kind = if segment.ecn == Ecn::Ect1 { accelerates } else { brakes };
            *kind = kind.saturating_add(1);
        }
    }

    fn take(&mut self) -> HeaderBytes {
        let counts = std::mem::take(&mut self.counts);
        if counts == BrakeCounts::default() { HeaderBytes::NONE } else { HeaderBytes::of(&counts) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_returned_once() {
        let mut echo = BrakeEcho::default();
        for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::Ect0, Ecn::NotCapable] {
            echo.note(&Segment { payload: 1000, ecn, ..Segment::default() });
        }
        assert_eq!(echo.take().parse(), Some(BrakeCounts { accelerates: 1, brakes: 2 }));
        assert!(echo.take().is_none());
    }
}
