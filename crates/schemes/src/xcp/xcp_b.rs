//! XCP-b (Abrantes and Ricardo 2006): XCP for links of unknown capacity, controlled by changes of the queue.
//!
//! The basic principle and the bound of chi are public. The rest is a reconstruction.

use super::header::{XcpEcho, XcpHeader};
use crate::overrides::Stated;
use crate::xcp::router::{AggregateChange, ControlLaw, QueueMeasurement, XcpRouter};
use crate::xcp::{ControlDefaults, XcpConnection, XcpControl};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::Size;
use multihop_core::{HeaderFormat, LinkEvent, NodeId};
use multihop_link::{EgressQueue, LinkView, RouterPolicy};
use multihop_transport::{Controller, Echo, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

keys! {
    /// Like `xcp`, but routers do not know a capacity. They respond to changes of the queue, and while it is
    /// empty they distribute a fixed amount.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct XcpB {
        /// Amount distributed while the queue stays empty, as a share of the buffer per control interval. The
        /// queue does not overflow for values below 1 / (5 - `alpha` - `beta`), which is 0.2286.
        pub chi: f64 [0, 1] = 0.2,
        /// Target queue, which keeps the link busy. Default: a tenth of `buffer`, at least two packets.
        pub target_queue: Option<Size> ["0 B", "1000 GB"],
        /// Bytes that fit into the queue. Default: full packets up to the queue's limit.
        pub buffer: Option<Size> ["1 B", "1000 GB"],
        /// Constants of routers.
        #[serde(flatten)]
        pub control: XcpControl,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: XcpConnection,
    }
}

impl Parameters for XcpB {
    const NAME: &str = "xcp-b";
    const SUMMARY: &str =
        "XCP for links of unknown capacity, controlled by changes of the queue (a reconstruction)";
    const REFERENCE: &str = "Abrantes and Ricardo 2006, 2007";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<XcpHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.tcp.check()
    }

    fn own_defaults(&self) -> Vec<Stated> {
        ControlDefaults::PUBLISHED.key_defaults()
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
            alpha: self.control.alpha(&ControlDefaults::PUBLISHED),
            beta: self.control.beta,
            extra: self.chi * buffer,
            target: self.target_queue.map_or((0.1 * buffer).max(2.0 * packet), |size| size.0),
            previous_queue: 0.0,
            dropped: 0.0,
            empty_intervals: 0,
        };
        Some(Box::new(XcpRouter::new(node, law, self.control.constants(&ControlDefaults::PUBLISHED))))
    }
}

/// Control law of XCP-b, `F = alpha S - beta (Q - kappa) / d`. The spare bandwidth `S` is the decrease of the
/// queue, with lost packets counted as if they had remained. While the queue is empty and constant the law is
/// `chi B / d`.
struct QueueChange {
    /// Bit rate of the link in bytes per second. It only sets the time over which the queue is measured.
    rate: f64,
    alpha: f64,
    beta: f64,
    /// Amount distributed while the queue is empty, `chi B`, in bytes.
    extra: f64,
    /// Target queue, `kappa`, in bytes.
    target: f64,
    /// Queue at the end of the previous interval, in bytes.
    previous_queue: f64,
    /// Bytes lost in the interval.
    dropped: f64,
    /// Consecutive intervals that ended with an empty and constant queue, up to two.
    empty_intervals: u32,
}

impl ControlLaw for QueueChange {
    fn capacity(&self, _view: &LinkView) -> f64 {
        self.rate
    }

    fn aggregate(&mut self, measured: &QueueMeasurement, _view: &LinkView) -> AggregateChange {
        let risen = measured.waiting - self.previous_queue + std::mem::take(&mut self.dropped);
        self.previous_queue = measured.waiting;
        let change = if measured.waiting > 0.0 || risen != 0.0 {
            self.empty_intervals = 0;
            -self.alpha * risen / measured.elapsed
                - self.beta * (measured.waiting - self.target) / measured.mean_rtt
        } else {
            // "Late reaction": a queue that is empty once gets no additional amount.
            self.empty_intervals = (self.empty_intervals + 1).min(2);
            if self.empty_intervals == 2 { self.extra / measured.mean_rtt } else { 0.0 }
        };
        AggregateChange { change, shuffled_traffic: measured.input }
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
            previous_queue: 0.0,
            dropped: 0.0,
            empty_intervals: 0,
        }
    }

    fn change(law: &mut QueueChange, waiting: f64) -> f64 {
        let measured = QueueMeasurement { input: 1e5, elapsed: 0.1, mean_rtt: 0.1, persistent: 0.0, waiting };
        law.aggregate(&measured, &LinkView::default()).change
    }

    #[test]
    fn an_empty_queue_gets_the_fixed_amount_from_the_second_interval() {
        let mut law = law();
        assert_eq!([0.0; 3].map(|waiting| change(&mut law, waiting)), [0.0, 150_000.0, 150_000.0]);
        assert!((change(&mut law, 1_500.0) - (-6_000.0 + 0.226 * 60_000.0)).abs() < 1e-9);
        // The queue becomes empty again: it changed, and then it is empty for the first time.
        assert!((change(&mut law, 0.0) - (6_000.0 + 0.226 * 75_000.0)).abs() < 1e-9);
        assert_eq!(change(&mut law, 0.0), 0.0);
    }

    /// The fixed amount is never added to a queue that oscillates between zero and one packet.
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
    fn a_rising_queue_lowers_the_rate_and_losses_count_as_rise() {
        let dropped = Dropped {
            node: NodeId(0),
            flow: FlowId(0),
            size: 1_500,
            at: Time::ZERO,
            cause: DropCause::QueueFull,
        };
        let lost = LinkEvent::Dropped(dropped);
        let mut law = QueueChange { previous_queue: 4_500.0, ..law() };
        assert!((change(&mut law, 7_500.0) + 12_000.0).abs() < 1e-9);
        (0..2).for_each(|_| law.on_link(&lost));
        assert!((change(&mut law, 7_500.0) + 12_000.0).abs() < 1e-9);
        assert!(change(&mut law, 7_500.0).abs() < 1e-9);
    }

    /// `beta (kappa - Q) / d`: 0.226 of 6000 bytes in 100 ms.
    #[test]
    fn a_constant_queue_below_the_target_is_filled() {
        let mut law = QueueChange { previous_queue: 1_500.0, ..law() };
        assert!((change(&mut law, 1_500.0) - 13_560.0).abs() < 1e-9);
        assert_eq!(law.capacity(&LinkView::default()), 1e6);
    }
}
