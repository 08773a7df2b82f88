//! XCP-Winf (Barreto 2015, section 4.1): XCP with capacity and available bandwidth from rt-Winf.
//!
//! Several equations cannot be meant as printed. Each has an option: the default is the reading with which
//! the scheme works as its text says, and the other value is the printed equation.

use super::header::{XcpEcho, XcpHeader};
use crate::capacity::winf::{Estimates, WinfParameters};
use crate::overrides::Stated;
use crate::xcp::router::{AggregateChange, ControlLaw, QueueMeasurement, XcpRouter, seconds};
use crate::xcp::{ControlDefaults, XcpConnection, XcpControl};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{HeaderFormat, LinkEvent, NodeId};
use multihop_link::{EgressQueue, Estimator, LinkView, PhyTimes, RatesInUse, RouterPolicy, WinfReading};
use multihop_transport::{Controller, Echo, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bandwidth that positive feedback distributes (Eq. 19).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spare {
    /// Available bandwidth.
    #[default]
    Available,
    /// Capacity minus the available bandwidth, as printed: the capacity in use.
    Printed,
}

/// Division of positive feedback among packets (Eqs. 16 to 18 and 21).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Psi {
    /// By the time between a flow's packets, so that flows gain equally.
    #[default]
    Flow,
    /// By the size of a packet over the capacity, as printed. Flows then gain in proportion to their
    /// throughput.
    Cap,
}

/// Traffic of which a share, `gamma`, is shuffled.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shuffled {
    /// Input of the queue.
    #[default]
    Input,
    /// Capacity in use by any station.
    Used,
    /// Available bandwidth, as printed.
    Printed,
}

/// Throughput from which a sender computes its missing throughput (Eq. 15).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Throughput {
    /// Throughput of the flow.
    #[default]
    Flow,
    /// Capacity, as printed.
    Printed,
}

/// Time over which the minimum of the queue is measured (Eq. 24).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueTimer {
    /// Half of the mean round-trip time minus the queueing delay, at least 2 ms.
    #[default]
    Drain,
    /// Maximum of the queue and of `1 / T_RTT - q / (C / 2)`, in bytes and seconds, as printed.
    Printed,
}

keys! {
    /// Like `xcp`, but each node measures the capacity and the available bandwidth of its links.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct XcpWinf {
        /// Bandwidth that positive feedback distributes: the "available" bandwidth, or as "printed" in Eq. 19
        /// the capacity minus that. As printed, a full medium is given more.
        pub spare: Spare,
        /// Division of positive feedback among packets: by the time between packets of each "flow", or by
        /// size over capacity ("cap") as printed in Eqs. 16 to 18 and 21, which keeps unequal flows unequal.
        pub psi: Psi,
        /// Traffic of which a share (`gamma`) is shuffled: the "input" of the queue, the capacity in use
        /// ("used"), or the available bandwidth ("printed").
        pub shuffled: Shuffled,
        /// Throughput from which a sender computes its missing throughput: that of the "flow", or the
        /// capacity as "printed" in Eq. 15.
        pub throughput: Throughput,
        /// Time over which the minimum of the queue is measured. "drain": half of (mean round-trip time minus
        /// queueing delay). "printed": Eq. 24 as in the paper, whose terms have different units.
        pub queue_timer: QueueTimer,
        /// Persistent queue, in full packets, that is not drained. A delayed acknowledgement releases two
        /// packets at once, which over few hops are queued as long as the measurement lasts. Not in the
        /// paper, whose "persistent" queue has none.
        pub queue_allowed: u32 [0, 10_000] = 2,
        /// Parameters of rt-Winf.
        #[serde(flatten)]
        pub winf: WinfParameters,
        /// Constants of routers.
        #[serde(flatten)]
        pub control: XcpControl,
        /// TCP connection.
        #[serde(flatten)]
        pub tcp: XcpConnection,
    }
}

impl Parameters for XcpWinf {
    const NAME: &str = "xcp-winf";
    const SUMMARY: &str = "XCP with the capacity and available bandwidth that rt-Winf measures at each node";
    const REFERENCE: &str = "Barreto 2015, section 4.1";
    const HEADERS: &[HeaderFormat] = &[HeaderFormat::of::<XcpHeader>()];

    fn check(&self) -> Result<(), ParameterError> {
        self.winf.check()?;
        self.tcp.check()
    }

    fn own_defaults(&self) -> Vec<Stated> {
        DEFAULTS.key_defaults()
    }
}

impl TcpScheme for XcpWinf {
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
        let law = WinfLaw {
            estimates: self.winf.at(egress, self.tcp.packet_size(), WinfReading::Strict),
            desired: self.tcp.desired.map(BitRate::bytes_per_second),
            rates: RatesInUse::new(egress.rate),
            scheme: self.clone(),
        };
        Some(Box::new(XcpRouter::new(node, law, self.control.constants(&DEFAULTS))))
    }
}

const DEFAULTS: ControlDefaults = ControlDefaults { alpha: 0.2, max_rtt: Duration(0.5) };

/// Control law of XCP-Winf (Eqs. 15 to 24).
struct WinfLaw {
    scheme: XcpWinf,
    estimates: Estimates,
    /// Throughput that the application requests, in bytes per second. Otherwise it is "the speed of the local
    /// interface", at which the sender transmits to the next hop.
    desired: Option<f64>,
    rates: RatesInUse,
}

impl WinfLaw {
    fn available(&self, measured: &QueueMeasurement, view: &LinkView) -> f64 {
        self.estimates.available(measured.input, view)
    }

    /// Returns the bytes of the queue that are not drained. On a wire the result is 0, because its round
    /// trips are long compared with the transmission of a packet.
    fn allowed(&self) -> f64 {
        if self.estimates.egress.is_wired {
            return 0.0;
        }
        f64::from(self.scheme.queue_allowed * self.scheme.tcp.packet_size())
    }
}

impl ControlLaw for WinfLaw {
    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.estimates.estimators(phy)
    }

    fn capacity(&self, view: &LinkView) -> f64 {
        self.estimates.capacity(view)
    }

    fn aggregate(&mut self, measured: &QueueMeasurement, view: &LinkView) -> AggregateChange {
        let (alpha, beta) = (self.scheme.control.alpha(&DEFAULTS), self.scheme.control.beta);
        let (capacity, available) = (self.capacity(view), self.available(measured, view));
        self.estimates.note_input(measured.input, measured.elapsed);
        let spare = match self.scheme.spare {
            Spare::Available => available,
            Spare::Printed => capacity - available,
        };
        let shuffled_traffic = match self.scheme.shuffled {
            Shuffled::Input => measured.input,
            Shuffled::Used => capacity - available,
            Shuffled::Printed => available,
        };
        let gain_scale = self.estimates.gain_scale(measured.mean_rtt);
        let gain = alpha * gain_scale / self.estimates.cost(capacity - available);
        let queue = (measured.persistent - self.allowed()).max(0.0);
        AggregateChange {
            change: gain * spare - beta * queue / measured.mean_rtt,
            shuffled_traffic: gain_scale * shuffled_traffic,
        }
    }

    fn weight(&self, header: &XcpHeader, size: u32, view: &LinkView) -> f64 {
        match self.scheme.psi {
            Psi::Flow => seconds(header.x),
            Psi::Cap => f64::from(size) / self.capacity(view),
        }
    }

    fn max_grant(&self, measured: &QueueMeasurement, view: &LinkView) -> f64 {
        self.available(measured, view)
    }

    /// Requests the change of Eq. 15, `(C_desired - throughput) / (throughput T_RTT / M)`, limited to the
    /// available bandwidth.
    fn request(
        &self,
        header: &mut XcpHeader,
        to: NodeId,
        payload: u32,
        measured: &QueueMeasurement,
        view: &LinkView,
    ) {
        if header.delta == 0 {
            return;
        }
        let segment = f64::from(payload);
        let throughput = match self.scheme.throughput {
            Throughput::Flow => segment / seconds(header.x),
            Throughput::Printed => self.capacity(view),
        };
        let packets = throughput * seconds(header.rtt) / segment;
        let desired = self.desired.unwrap_or_else(|| self.rates.of(to).bps() / 8.0);
        let missing = (desired - throughput) / packets;
        header.delta = missing.min(self.available(measured, view)) as i32;
    }

    fn queue_interval(&self, measured: &QueueMeasurement, view: &LinkView) -> f64 {
        let capacity = self.capacity(view);
        match self.scheme.queue_timer {
            QueueTimer::Drain => (measured.mean_rtt - measured.waiting / capacity) / 2.0,
            QueueTimer::Printed => {
                measured.persistent.max(1.0 / measured.mean_rtt - measured.waiting / (capacity / 2.0))
            }
        }
    }

    fn on_link(&mut self, event: &LinkEvent) {
        self.rates.on_link(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{hop, sent};
    use crate::xcp::router::testing::{EGRESS, delta, packet, pass};
    use multihop_core::{FlowId, Span, Time};

    /// 1 MB/s, of which a tenth is available.
    const VIEW: LinkView = LinkView {
        transmission_efficiency: None,
        busy_ratio: None,
        capacity_bps: Some(8e6),
        available_bps: Some(0.8e6),
        packet_throughput_bps: None,
        rate_bps: None,
        service_delay_s: None,
        queue_bytes: 0,
    };
    const SEEN: QueueMeasurement =
        QueueMeasurement { input: 0.5e6, elapsed: 0.1, mean_rtt: 0.1, persistent: 5_000.0, waiting: 2_000.0 };

    fn law(scheme: &XcpWinf) -> WinfLaw {
        WinfLaw {
            scheme: scheme.clone(),
            estimates: scheme.winf.at(&EGRESS, 1532, WinfReading::Strict),
            desired: Some(1.2e6),
            rates: RatesInUse::new(EGRESS.rate),
        }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Returns the scheme with the spare bandwidth of the published equations.
    fn published() -> XcpWinf {
        let winf =
            WinfParameters { self_interference: false, await_estimate: false, ..WinfParameters::default() };
        XcpWinf {
            queue_allowed: 0,
            winf,
            control: XcpControl { alpha: Some(0.4), ..XcpControl::default() },
            ..XcpWinf::default()
        }
    }

    #[test]
    fn eq_19_distributes_the_available_and_as_printed_the_used_bandwidth() {
        let aggregate = |scheme: XcpWinf| law(&scheme).aggregate(&SEEN, &VIEW);
        let read = aggregate(published());
        assert!((read.change - 28_700.0).abs() < 1e-6 && read.shuffled_traffic == 0.5e6);
        let printed = aggregate(XcpWinf { spare: Spare::Printed, ..published() });
        assert!((printed.change - 348_700.0).abs() < 1e-6);
        for (shuffled, of) in [(Shuffled::Used, 0.9e6), (Shuffled::Printed, 0.1e6)] {
            let aggregate = aggregate(XcpWinf { shuffled, ..published() });
            assert!((aggregate.shuffled_traffic - of).abs() < 1e-6);
        }
    }

    /// The gain is a third, because the round trip is half of the time of the estimates. The mean input is
    /// 0.25 of the 0.9 MB/s in use, since it has moved half way. Two packets of 1532 bytes may remain in the
    /// queue.
    #[test]
    fn the_available_bandwidth_is_scaled_by_cost_and_delay() {
        let AggregateChange { change, shuffled_traffic } = law(&XcpWinf::default()).aggregate(&SEEN, &VIEW);
        let expected = 0.2 / 3.0 * 0.1e6 * 0.25 / 0.9 - 0.226 * (5_000.0 - 3_064.0) / 0.1;
        assert!((change - expected).abs() < 1e-6, "{change}");
        assert!((shuffled_traffic - 0.5e6 / 3.0).abs() < 1e-6, "{shuffled_traffic}");
    }

    /// Returns the net feedback of two flows that send 10 and 90 kB in an interval without a change of the
    /// aggregate.
    fn shuffled(psi: Psi) -> [i32; 2] {
        let scheme = XcpWinf { psi, ..published() };
        let mut router = scheme.policy(NodeId(0), &EGRESS).unwrap();
        let still = LinkView { available_bps: Some(0.0), ..VIEW };
        let mut net = [0; 2];
        // One packet of 1000 bytes per millisecond. Control intervals end at 75, 175, 275 and 375 ms.
        for at in 25..375 {
            let large = at % 10 > 0;
            let mut packet = packet(100, 10, 0);
            packet.segment.feedback.change(|header: &mut XcpHeader| {
                header.x = if large { 1_111 } else { 10_000 };
                header.delta = XcpHeader::UNLIMITED;
            });
            router.on_arrival(hop(ms(at)), &mut packet, &still);
            // With no available bandwidth no packet could gain, so the grant sees all of the capacity as
            // available.
            router.on_head_of_line(hop(ms(at)), &mut packet, &LinkView { available_bps: Some(8e6), ..still });
            net[usize::from(large)] += if at < 275 { 0 } else { delta(&packet) };
        }
        net
    }

    #[test]
    fn eq_16_as_printed_leaves_no_fairness() {
        let [small, large] = shuffled(Psi::Flow);
        assert!(small > 35_000 && large < -35_000, "{small} {large}");
        let [small, large] = shuffled(Psi::Cap);
        // Rounding down costs up to 1 B/s per packet.
        assert!((-20..=0).contains(&small) && (-180..=0).contains(&large), "{small} {large}");
    }

    /// 1000 bytes every 10 ms is 100 kB/s in windows of ten packets; 1.2 MB/s are requested.
    #[test]
    fn eq_15_requests_the_missing_up_to_the_available_bandwidth() {
        let asked = |throughput: Throughput, available_bps: f64, delta: i32| {
            let law = law(&XcpWinf { throughput, ..XcpWinf::default() });
            let view = LinkView { available_bps: Some(available_bps), ..VIEW };
            let mut header = XcpHeader { rtt: 100_000, x: 10_000, delta, reverse: 0 };
            law.request(&mut header, NodeId(1), 1_000, &SEEN, &view);
            header.delta
        };
        assert_eq!(asked(Throughput::Flow, 8e6, i32::MAX), 110_000);
        // 0.2 MB/s over 100 packets.
        assert_eq!(asked(Throughput::Printed, 8e6, i32::MAX), 2_000);
        assert_eq!(asked(Throughput::Flow, 0.8e6, i32::MAX), 100_000);
        assert_eq!(asked(Throughput::Flow, 8e6, 0), 0, "no more is desired");
    }

    /// The queue has 8 Mb/s, and packets to node 1 leave at 4 Mb/s. Without a configured request, 500 kB/s
    /// are requested towards node 1.
    #[test]
    fn the_speed_of_the_interface_is_that_to_the_next_hop() {
        let tested = XcpWinf::default();
        let mut law = WinfLaw { desired: None, ..law(&tested) };
        law.on_link(&sent(FlowId(0), 4_000));
        let view = LinkView { available_bps: Some(800e6), ..VIEW };
        let asked = |to| {
            let mut header = XcpHeader { rtt: 100_000, x: 10_000, delta: i32::MAX, reverse: 0 };
            law.request(&mut header, NodeId(to), 1_000, &SEEN, &view);
            header.delta
        };
        assert_eq!([1, 2].map(asked), [(500_000 - 100_000) / 10, (1_000_000 - 100_000) / 10]);
    }

    /// A packet requests a change at its first node only, and no router grants more than the available
    /// bandwidth.
    #[test]
    fn grants_are_limited_to_the_available_bandwidth() {
        let mut router = XcpWinf::default().policy(NodeId(0), &EGRESS).unwrap();
        let view = LinkView { available_bps: Some(8e6), ..VIEW };
        pass(router.as_mut(), ms(0), packet(100, 10, XcpHeader::UNLIMITED), &view);
        // Only one packet arrived, so all of 0.4 MB/s is for that packet.
        let first = LinkView { available_bps: Some(8_000.0), ..view };
        router.on_other(ms(25), multihop_link::QueueEvent::Enqueue, 40, &view);
        assert_eq!(pass(router.as_mut(), ms(26), packet(100, 10, XcpHeader::UNLIMITED), &first), 1_000);
    }

    #[test]
    fn eq_24_in_seconds_and_as_printed() {
        let of =
            |queue_timer| law(&XcpWinf { queue_timer, ..XcpWinf::default() }).queue_interval(&SEEN, &VIEW);
        assert!((of(QueueTimer::Drain) - 0.049).abs() < 1e-12);
        assert_eq!(of(QueueTimer::Printed), 5_000.0);
    }

    #[test]
    fn a_wire_uses_its_rate_and_its_input() {
        let wire = EgressQueue { is_wired: true, ..EGRESS };
        let scheme = XcpWinf::default();
        let mut law = WinfLaw {
            scheme: scheme.clone(),
            estimates: scheme.winf.at(&wire, 1532, WinfReading::Strict),
            desired: Some(1e6),
            rates: RatesInUse::new(EGRESS.rate),
        };
        assert!(law.estimators(&crate::testing::phy()).is_empty());
        let change = law.aggregate(&SEEN, &LinkView::default()).change;
        assert!((change - (0.2 * 0.5e6 - 0.226 * 50_000.0)).abs() < 1e-6);
    }

    /// Half of (100 ms - 2000 bytes at 1 MB/s). As printed, where units do not match, the maximum of 5000 and
    /// 10 - 2000 / 500,000.
    #[test]
    fn the_queue_is_measured_over_the_rest_of_a_round_trip() {
        let interval = |queue_timer, measured: &QueueMeasurement| {
            law(&XcpWinf { queue_timer, ..published() }).queue_interval(measured, &VIEW)
        };
        assert!((interval(QueueTimer::Drain, &SEEN) - 0.049).abs() < 1e-12);
        assert_eq!(interval(QueueTimer::Printed, &SEEN), 5_000.0);
        let short = QueueMeasurement { persistent: 0.0, ..SEEN };
        assert!((interval(QueueTimer::Printed, &short) - 9.996).abs() < 1e-12);
    }
}
