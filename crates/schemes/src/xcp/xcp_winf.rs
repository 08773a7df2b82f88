//! XCP-Winf (Barreto 2015, section 4.1): XCP with capacity and available bandwidth from rt-Winf.
//!
//! Several of its equations cannot be meant as printed. Each has an option: the default is what they must
//! mean for the scheme to work as its text says, and the other value is what is printed.

use super::header::{XcpEcho, XcpHeader};
use crate::capacity::winf::{Estimates, WinfParameters};
use crate::overrides::Stated;
use crate::xcp::router::{Aggregate, Law, Seen, XcpRouter, seconds};
use crate::xcp::{Defaults, XcpConnection, XcpControl};
use crate::{ParameterError, Parameters, TcpScheme};
use multihop_config::keys;
use multihop_config::quantity::{BitRate, Duration};
use multihop_core::{HeaderFormat, LinkEvent, NodeId};
use multihop_link::{EgressQueue, Estimator, LinkView, PhyTimes, RatesInUse, RouterPolicy, WinfReading};
use multihop_transport::{Controller, Echo, TcpOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What positive feedback gives out (Eq. 19).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spare {
    /// The available bandwidth.
    #[default]
    Available,
    /// As printed, the capacity less the available bandwidth: what is in use.
    Printed,
}

/// By what positive feedback is divided among packets (Eqs. 16 to 18 and 21).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Psi {
    /// By the time between the packets of a flow, so that flows gain alike.
    #[default]
    Flow,
    /// As printed, by the size of a packet over the capacity, which makes gains proportional to what flows
    /// send.
    Cap,
}

/// The traffic of which a tenth is shuffled.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shuffled {
    /// What came to the queue.
    #[default]
    Input,
    /// What is used of the capacity, by anybody.
    Used,
    /// As printed, the available bandwidth.
    Printed,
}

/// Whose throughput a sender takes for its own when it asks for what is missing (Eq. 15).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Throughput {
    /// Its own.
    #[default]
    Flow,
    /// As printed, the capacity.
    Printed,
}

/// For how long the queue is watched for its least length (Eq. 24).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueTimer {
    /// Half of what the mean round-trip time is longer than the queue, but at least 2 ms.
    #[default]
    Drain,
    /// As printed, the larger of the queue and of `1 / T_RTT - q / (C / 2)`, in bytes and seconds.
    Printed,
}

keys! {
    /// As `xcp`, but each node measures the capacity of its links, and what is left of it.
    #[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
    pub struct XcpWinf {
        /// What positive feedback gives out: the "available" bandwidth, or, as "printed" in Eq. 19, the
        /// capacity less that, so that a full medium is given more.
        pub spare: Spare,
        /// By what it is divided among packets: by the time between packets of each "flow", or by size over
        /// capacity ("cap") as printed in Eqs. 16 to 18 and 21, which keeps flows as unequal as they are.
        pub psi: Psi,
        /// The traffic of which a share (`gamma`) is shuffled: "input" of the queue, what is "used" of the
        /// capacity, or, as "printed", the available bandwidth.
        pub shuffled: Shuffled,
        /// The throughput from which senders count what they miss: that of the "flow", or, as "printed" in
        /// Eq. 15, the capacity.
        pub throughput: Throughput,
        /// For how long the queue is watched: until half of the round trip that it does not fill has passed
        /// ("drain"), or as "printed" in Eq. 24, which adds bytes, seconds and their inverse.
        pub queue_timer: QueueTimer,
        /// A queue of so many full packets is not drained: a delayed acknowledgement releases two at once,
        /// which over few hops wait for as long as the queue is watched. Not in the paper, whose "persistent"
        /// queue has none.
        pub queue_allowed: u32 [0, 10_000] = 2,
        /// rt-Winf.
        #[serde(flatten)]
        pub winf: WinfParameters,
        /// Routers.
        #[serde(flatten)]
        pub control: XcpControl,
        /// The connection.
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

    fn usual(&self) -> Vec<Stated> {
        USUAL.stated()
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
        Some(Box::new(XcpRouter::new(node, law, self.control.constants(&USUAL))))
    }
}

const USUAL: Defaults = Defaults { alpha: 0.2, max_rtt: Duration(0.5) };

/// Eqs. 15 to 24.
struct WinfLaw {
    scheme: XcpWinf,
    estimates: Estimates,
    /// What the application of senders wants; otherwise it is "the speed of the local interface", at which it
    /// sends to the next hop.
    desired: Option<f64>,
    rates: RatesInUse,
}

impl WinfLaw {
    fn available(&self, seen: &Seen, view: &LinkView) -> f64 {
        self.estimates.available(seen.input, view)
    }

    /// Bytes that may wait. A wire's round trips are long beside what its packets take.
    fn allowed(&self) -> f64 {
        if self.estimates.egress.is_wired {
            return 0.0;
        }
        f64::from(self.scheme.queue_allowed * self.scheme.tcp.packet_size())
    }
}

impl Law for WinfLaw {
    fn estimators(&self, phy: &PhyTimes) -> Vec<Box<dyn Estimator>> {
        self.estimates.estimators(phy)
    }

    fn capacity(&self, view: &LinkView) -> f64 {
        self.estimates.capacity(view)
    }

    fn aggregate(&mut self, seen: &Seen, view: &LinkView) -> Aggregate {
        let (alpha, beta) = (self.scheme.control.alpha(&USUAL), self.scheme.control.beta);
        let (capacity, available) = (self.capacity(view), self.available(seen, view));
        self.estimates.arrived(seen.input, seen.elapsed);
        let spare = match self.scheme.spare {
            Spare::Available => available,
            Spare::Printed => capacity - available,
        };
        let shuffled_of = match self.scheme.shuffled {
            Shuffled::Input => seen.input,
            Shuffled::Used => capacity - available,
            Shuffled::Printed => available,
        };
        let gain_scale = self.estimates.gain_scale(seen.mean_rtt);
        let gain = alpha * gain_scale / self.estimates.cost(capacity - available);
        let queue = (seen.persistent - self.allowed()).max(0.0);
        Aggregate {
            change: gain * spare - beta * queue / seen.mean_rtt,
            shuffled_of: gain_scale * shuffled_of,
        }
    }

    fn weight(&self, header: &XcpHeader, size: u32, view: &LinkView) -> f64 {
        match self.scheme.psi {
            Psi::Flow => seconds(header.x),
            Psi::Cap => f64::from(size) / self.capacity(view),
        }
    }

    fn most(&self, seen: &Seen, view: &LinkView) -> f64 {
        self.available(seen, view)
    }

    /// Eq. 15, `(C_desired - throughput) / (throughput T_RTT / M)`, and no more than what is available.
    fn request(&self, header: &mut XcpHeader, to: NodeId, payload: u32, seen: &Seen, view: &LinkView) {
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
        header.delta = missing.min(self.available(seen, view)) as i32;
    }

    fn queue_interval(&self, seen: &Seen, view: &LinkView) -> f64 {
        let capacity = self.capacity(view);
        match self.scheme.queue_timer {
            QueueTimer::Drain => (seen.mean_rtt - seen.waiting / capacity) / 2.0,
            QueueTimer::Printed => seen.persistent.max(1.0 / seen.mean_rtt - seen.waiting / (capacity / 2.0)),
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
    const SEEN: Seen =
        Seen { input: 0.5e6, elapsed: 0.1, mean_rtt: 0.1, persistent: 5_000.0, waiting: 2_000.0 };

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

    /// Spare bandwidth as the equations have it.
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
    fn eq_19_gives_out_what_is_available_and_as_printed_what_is_used() {
        let aggregate = |scheme: XcpWinf| law(&scheme).aggregate(&SEEN, &VIEW);
        let read = aggregate(published());
        assert!((read.change - 28_700.0).abs() < 1e-6 && read.shuffled_of == 0.5e6);
        let printed = aggregate(XcpWinf { spare: Spare::Printed, ..published() });
        assert!((printed.change - 348_700.0).abs() < 1e-6);
        for (shuffled, of) in [(Shuffled::Used, 0.9e6), (Shuffled::Printed, 0.1e6)] {
            let aggregate = aggregate(XcpWinf { shuffled, ..published() });
            assert!((aggregate.shuffled_of - of).abs() < 1e-6);
        }
    }

    /// A third of the gain, as the round trip is half of the time that estimates are of; 0.25 of 0.9 MB/s in
    /// use are the queue's input, whose mean has come half way; 2 packets of 1532 bytes may wait.
    #[test]
    fn what_is_available_is_given_out_as_input_and_no_faster_than_it_is_seen() {
        let Aggregate { change, shuffled_of } = law(&XcpWinf::default()).aggregate(&SEEN, &VIEW);
        let expected = 0.2 / 3.0 * 0.1e6 * 0.25 / 0.9 - 0.226 * (5_000.0 - 3_064.0) / 0.1;
        assert!((change - expected).abs() < 1e-6, "{change}");
        assert!((shuffled_of - 0.5e6 / 3.0).abs() < 1e-6, "{shuffled_of}");
    }

    /// Two flows send 90 and 10 kB in an interval in which nothing changes: the net feedback of each.
    fn shuffled(psi: Psi) -> [i32; 2] {
        let scheme = XcpWinf { psi, ..published() };
        let mut router = scheme.policy(NodeId(0), &EGRESS).unwrap();
        let still = LinkView { available_bps: Some(0.0), ..VIEW };
        let mut net = [0; 2];
        // A packet of 1000 bytes each millisecond; control intervals end at 75, 175, 275 and 375 ms.
        for at in 25..375 {
            let large = at % 10 > 0;
            let mut packet = packet(100, 10, 0);
            packet.segment.feedback.change(|header: &mut XcpHeader| {
                header.x = if large { 1_111 } else { 10_000 };
                header.delta = XcpHeader::UNLIMITED;
            });
            router.on_arrival(hop(ms(at)), &mut packet, &still);
            // With nothing available no packet could gain: for the grant all is.
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
        // Rounding down costs up to 1 B/s a packet.
        assert!((-20..=0).contains(&small) && (-180..=0).contains(&large), "{small} {large}");
    }

    /// 1000 bytes each 10 ms are 100 kB/s in windows of ten packets; 1.2 MB/s are wanted.
    #[test]
    fn eq_15_asks_for_what_is_missing_up_to_what_is_available() {
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

    /// The queue is of 8 Mb/s, and what is sent to node 1 leaves at 4 Mb/s: 500 kB/s are wanted where nothing
    /// else is said.
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

    /// A packet asks at its first node alone, and no router grants more than what is available.
    #[test]
    fn grants_end_at_what_is_available() {
        let mut router = XcpWinf::default().policy(NodeId(0), &EGRESS).unwrap();
        let view = LinkView { available_bps: Some(8e6), ..VIEW };
        pass(router.as_mut(), ms(0), packet(100, 10, XcpHeader::UNLIMITED), &view);
        // One packet came: all of 0.4 MB/s is its own.
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
    fn a_wire_has_its_rate_and_what_did_not_arrive() {
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

    /// Half of (100 ms - 2000 bytes at 1 MB/s); and as printed, where units do not match: the larger of 5000
    /// and 10 - 2000 / 500,000.
    #[test]
    fn the_interval_of_the_queue_is_what_is_left_of_a_round_trip() {
        let interval = |queue_timer, seen: &Seen| {
            law(&XcpWinf { queue_timer, ..published() }).queue_interval(seen, &VIEW)
        };
        assert!((interval(QueueTimer::Drain, &SEEN) - 0.049).abs() < 1e-12);
        assert_eq!(interval(QueueTimer::Printed, &SEEN), 5_000.0);
        let short = Seen { persistent: 0.0, ..SEEN };
        assert!((interval(QueueTimer::Printed, &short) - 9.996).abs() < 1e-12);
    }
}
