//! XCP-b (Abrantes and Ricardo 2006): XCP for a link of unknown capacity, which the queue shows.
//!
//! What is public are the idea and the bound of chi; the rest is a reconstruction, as the documentation of
//! the scheme says.

use super::header::{XcpEcho, XcpHeader};
use crate::overrides::Stated;
use crate::xcp::router::{Aggregate, Law, Seen, XcpRouter};
use crate::xcp::{Defaults, XcpConnection, XcpControl};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::Size;
use multihop_core::{HeaderFormat, LinkEvent, NodeId};
use multihop_link::{EgressQueue, LinkView, RouterPolicy};
use multihop_transport::{Controller, Echo, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// As `xcp`, but routers do not know a capacity: they go by how the queue changes, and while it is empty
    /// they give out a fixed amount.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct XcpB {
        /// What is given out while the queue stays empty, as a share of the buffer in each control interval.
        /// The queue does not overflow from it as long as it is below 1 / (5 - `alpha` - `beta`), which is
        /// 0.2286.
        pub chi: f64 [0, 1] = 0.2,
        /// The queue that is aimed at, so that it shows the link. Default: a tenth of `buffer`, but at least
        /// two packets.
        pub target_queue: Option<Size> ["0 B", "1000 GB"],
        /// Bytes that fit into the queue. Default: as many full packets as its limit.
        pub buffer: Option<Size> ["1 B", "1000 GB"],
        /// Routers.
        #[serde(flatten)]
        pub control: XcpControl,
        /// The connection.
        #[serde(flatten)]
        pub tcp: XcpConnection,
    }
}

impl Parameters for XcpB {
    const NAME: &str = "xcp-b";
    const SUMMARY: &str =
        "XCP for links of unknown capacity, by the changes of their queues (a reconstruction)";
    const REFERENCE: &str = "Abrantes and Ricardo 2006, 2007";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<XcpHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()
    }

    fn usual(&self) -> Vec<Stated> {
        Defaults::PUBLISHED.stated()
    }
}

impl TcpScheme for XcpB {
    fn options(&self) -> TcpOptions {
        self.tcp.options()
    }

    fn control(&self) -> Box<dyn Controller> {
        Box::new(self.tcp.control())
    }

    fn echo(&self) -> Option<Box<dyn Echo>> {
        Some(Box::new(XcpEcho::default()))
    }

    fn policy(&self, node: NodeId, egress: &EgressQueue) -> Option<Box<dyn RouterPolicy>> {
        let packet = f64::from(self.tcp.packet_size());
        let buffer = self.buffer.map_or(packet * egress.queue_limit as f64, |size| size.0);
        let law = QueueChange {
            rate: egress.rate.bps() as f64 / 8.0,
            alpha: self.control.alpha(&Defaults::PUBLISHED),
            beta: self.control.beta,
            extra: self.chi * buffer,
            target: self.target_queue.map_or((0.1 * buffer).max(2.0 * packet), |size| size.0),
            before: 0.0,
            dropped: 0.0,
            still: 0,
        };
        Some(Box::new(XcpRouter::new(node, law, self.control.constants(&Defaults::PUBLISHED))))
    }
}

/// `F = alpha S - beta (Q - kappa) / d`, where the spare bandwidth `S` is what the queue shrank by, losses
/// counted as if they had stayed; and `chi B / d` while the queue is empty and does not move.
struct QueueChange {
    /// For how long to watch the queue; the law itself needs no rate.
    rate: f64,
    alpha: f64,
    beta: f64,
    /// `chi B`, in bytes.
    extra: f64,
    /// `kappa`, in bytes.
    target: f64,
    /// The queue at the end of the interval before, in bytes.
    before: f64,
    /// Bytes lost in the interval.
    dropped: f64,
    /// Intervals in a row at whose end the queue was empty and had not moved, up to two.
    still: u32,
}

impl Law for QueueChange {
    fn capacity(&self, _view: &LinkView) -> f64 {
        self.rate
    }

    fn aggregate(&mut self, seen: &Seen, _view: &LinkView) -> Aggregate {
        let risen = seen.waiting - self.before + std::mem::take(&mut self.dropped);
        self.before = seen.waiting;
        let change = if seen.waiting > 0.0 || risen != 0.0 {
            self.still = 0;
            -self.alpha * risen / seen.elapsed - self.beta * (seen.waiting - self.target) / seen.mean_rtt
        } else {
            // "Late reaction": a queue that is empty for once has nothing added.
            self.still = (self.still + 1).min(2);
            if self.still == 2 { self.extra / seen.mean_rtt } else { 0.0 }
        };
        Aggregate { change, shuffled_of: seen.input }
    }

    fn on_link(&mut self, event: &LinkEvent) {
        if let LinkEvent::Dropped(dropped) = event {
            self.dropped += f64::from(dropped.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::{DropCause, Dropped, FlowId, Time};

    fn law() -> QueueChange {
        QueueChange {
            rate: 1e6,
            alpha: 0.4,
            beta: 0.226,
            extra: 0.2 * 75_000.0,
            target: 7_500.0,
            before: 0.0,
            dropped: 0.0,
            still: 0,
        }
    }

    fn change(law: &mut QueueChange, waiting: f64) -> f64 {
        let seen = Seen { input: 1e5, elapsed: 0.1, mean_rtt: 0.1, persistent: 0.0, waiting };
        law.aggregate(&seen, &LinkView::default()).change
    }

    #[test]
    fn an_empty_queue_gets_the_fixed_amount_from_the_second_interval_on() {
        let mut law = law();
        assert_eq!([0.0; 3].map(|waiting| change(&mut law, waiting)), [0.0, 150_000.0, 150_000.0]);
        assert!((change(&mut law, 1_500.0) - (-6_000.0 + 0.226 * 60_000.0)).abs() < 1e-9);
        // Down to nothing again: it moved, and then it is empty for the first time.
        assert!((change(&mut law, 0.0) - (6_000.0 + 0.226 * 75_000.0)).abs() < 1e-9);
        assert_eq!(change(&mut law, 0.0), 0.0);
    }

    /// The fixed amount is never added to a queue between nothing and a packet.
    #[test]
    fn a_queue_that_oscillates_is_not_empty() {
        let mut law = law();
        for _ in 0..10 {
            assert!(change(&mut law, 1_500.0) < 20_000.0);
            assert!(change(&mut law, 0.0) < 25_000.0);
        }
    }

    /// 3000 bytes in 100 ms at the target: -0.4 of 30 kB/s.
    #[test]
    fn a_rising_queue_takes_back_and_losses_count_as_rise() {
        let dropped = Dropped {
            node: NodeId(0),
            flow: FlowId(0),
            size: 1_500,
            at: Time::ZERO,
            cause: DropCause::QueueFull,
        };
        let lost = LinkEvent::Dropped(dropped);
        let mut law = QueueChange { before: 4_500.0, ..law() };
        assert!((change(&mut law, 7_500.0) + 12_000.0).abs() < 1e-9);
        (0..2).for_each(|_| law.on_link(&lost));
        assert!((change(&mut law, 7_500.0) + 12_000.0).abs() < 1e-9);
        assert!(change(&mut law, 7_500.0).abs() < 1e-9);
    }

    /// `beta (kappa - Q) / d`: 0.226 of 6000 bytes in 100 ms.
    #[test]
    fn a_queue_that_stands_still_below_the_target_is_filled() {
        let mut law = QueueChange { before: 1_500.0, ..law() };
        assert!((change(&mut law, 1_500.0) - 13_560.0).abs() < 1e-9);
        assert_eq!(law.capacity(&LinkView::default()), 1e6);
    }
}
