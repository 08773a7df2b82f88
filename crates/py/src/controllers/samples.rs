//! Arguments of a controller's methods, as Python reads them.

use super::header;
use multihop_core as core;
use multihop_core::{Ecn, HeaderBytes, Port, Span, Time};
use multihop_link::LinkView;
use multihop_transport as transport;
use multihop_transport::LossKind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// New data that was acknowledged outside loss recovery.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Acked {
    now_s: f64,
    bytes: u64,
    rtt_s: Option<f64>,
    smoothed_rtt_s: Option<f64>,
    in_flight_bytes: u64,
    app_limited: bool,
    marked: bool,
}

impl From<&transport::Acked> for Acked {
    fn from(acked: &transport::Acked) -> Acked {
        Acked {
            now_s: acked.now.seconds(),
            bytes: acked.size,
            rtt_s: acked.rtt.map(Span::seconds),
            smoothed_rtt_s: acked.srtt.map(Span::seconds),
            in_flight_bytes: acked.in_flight,
            app_limited: acked.app_limited,
            marked: acked.ecn_echo,
        }
    }
}

/// Data that an acknowledgement delivered, in loss recovery or outside.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Delivered {
    now_s: f64,
    bytes: u64,
    total_bytes: u64,
    rate_bps: Option<f64>,
    rtt_s: Option<f64>,
    in_flight_bytes: u64,
    lost_bytes: u64,
    app_limited: bool,
    recovering: bool,
}

impl From<&transport::DeliverySample> for Delivered {
    fn from(sample: &transport::DeliverySample) -> Delivered {
        Delivered {
            now_s: sample.now.seconds(),
            bytes: sample.size,
            total_bytes: sample.delivered,
            rate_bps: sample.rate.map(|rate| rate * 8.0),
            rtt_s: sample.rtt.map(Span::seconds),
            in_flight_bytes: sample.in_flight,
            lost_bytes: sample.lost,
            app_limited: sample.app_limited,
            recovering: sample.recovering,
        }
    }
}

/// Loss, or a congestion mark that was echoed.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Lost {
    now_s: f64,
    in_flight_bytes: u64,
    timeout: bool,
    again: bool,
}

impl From<&transport::Lost> for Lost {
    fn from(lost: &transport::Lost) -> Lost {
        let (timeout, again) = match lost.kind {
            LossKind::DuplicateAcks => (false, false),
            LossKind::Timeout { again } => (true, again),
        };
        Lost { now_s: lost.now.seconds(), in_flight_bytes: lost.in_flight, timeout, again }
    }
}

impl From<&transport::Marked> for Lost {
    fn from(marked: &transport::Marked) -> Lost {
        let (timeout, again) = (false, false);
        Lost { now_s: marked.now.seconds(), in_flight_bytes: marked.in_flight, timeout, again }
    }
}

/// End of loss recovery after duplicate acknowledgements.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Recovered {
    now_s: f64,
    in_flight_bytes: u64,
    window_bytes: u64,
}

impl From<&transport::Recovered> for Recovered {
    fn from(recovered: &transport::Recovered) -> Recovered {
        Recovered {
            now_s: recovered.now.seconds(),
            in_flight_bytes: recovered.in_flight,
            window_bytes: recovered.window,
        }
    }
}

/// Segment that was sent.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Sent {
    now_s: f64,
    bytes: u64,
    in_flight_bytes: u64,
    retransmission: bool,
}

impl From<&transport::SentSegment> for Sent {
    fn from(sent: &transport::SentSegment) -> Sent {
        Sent {
            now_s: sent.now.seconds(),
            bytes: sent.size,
            in_flight_bytes: sent.in_flight,
            retransmission: sent.retransmission,
        }
    }
}

/// Values of the estimators that a class names, with what its queue holds: base of [`Mac`] and [`Link`].
#[pyclass(subclass, frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Estimates {
    busy_ratio: Option<f64>,
    rate_bps: Option<f64>,
    service_delay_s: Option<f64>,
    transmission_efficiency: Option<f64>,
    packet_throughput_bps: Option<f64>,
    capacity_bps: Option<f64>,
    available_bps: Option<f64>,
}

impl From<&LinkView> for Estimates {
    fn from(view: &LinkView) -> Estimates {
        Estimates {
            busy_ratio: view.busy_ratio,
            rate_bps: view.rate_bps,
            service_delay_s: view.service_delay_s,
            transmission_efficiency: view.transmission_efficiency,
            packet_throughput_bps: view.packet_throughput_bps,
            capacity_bps: view.capacity_bps,
            available_bps: view.available_bps,
        }
    }
}

/// Knowledge of the sender's own MAC, with its packets that have not left the node.
#[pyclass(extends = Estimates, frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Mac {
    queued_packets: u64,
}

impl Mac {
    pub(super) fn new(view: &LinkView, queued_packets: u64) -> PyClassInitializer<Mac> {
        PyClassInitializer::from(Estimates::from(view)).add_subclass(Mac { queued_packets })
    }
}

/// Counters of a sender since its first segment.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone, Default)]
pub struct Counts {
    sent_bytes: u64,
    acked_bytes: u64,
    retransmissions: u64,
    losses: u64,
    timeouts: u64,
    marks: u64,
    rtt_samples: u64,
    rtt_sum_s: f64,
    rtt_s: Option<f64>,
    rtt_min_s: Option<f64>,
    in_flight_bytes: u64,
}

impl Counts {
    pub(super) fn on_sent(&mut self, sent: &transport::SentSegment) {
        self.in_flight_bytes = sent.in_flight;
        if sent.retransmission {
            self.retransmissions += 1;
        } else {
            self.sent_bytes += sent.size;
        }
    }

    pub(super) fn on_ack(&mut self, ack: &transport::AckInfo) {
        self.acked_bytes += ack.advance.unwrap_or(0);
    }

    pub(super) fn on_acked(&mut self, acked: &transport::Acked) {
        self.in_flight_bytes = acked.in_flight;
        if let Some(rtt) = acked.rtt {
            let rtt = rtt.seconds();
            self.rtt_samples += 1;
            self.rtt_sum_s += rtt;
            self.rtt_s = Some(rtt);
            self.rtt_min_s = Some(self.rtt_min_s.map_or(rtt, |least| least.min(rtt)));
        }
    }

    pub(super) fn on_lost(&mut self, lost: &transport::Lost) {
        self.losses += 1;
        self.timeouts += u64::from(matches!(lost.kind, LossKind::Timeout { .. }));
    }

    pub(super) fn on_marked(&mut self) {
        self.marks += 1;
    }
}

/// Congestion header that an acknowledgement returned.
#[pyclass(frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Feedback {
    now_s: f64,
    header: Cow<'static, [u8]>,
    rtt_s: Option<f64>,
    app_limited: bool,
}

impl From<&transport::Returned<'_>> for Feedback {
    fn from(returned: &transport::Returned<'_>) -> Feedback {
        Feedback {
            now_s: returned.now.seconds(),
            header: Cow::Owned(header::unpack(&returned.segment.feedback).to_vec()),
            rtt_s: returned.rtt.map(Span::seconds),
            app_limited: returned.app_limited,
        }
    }
}

/// Packet at a router, during a call.
#[pyclass(frozen, module = "multihop")]
pub struct Packet {
    #[pyo3(get)]
    now_s: f64,
    #[pyo3(get)]
    flow: u32,
    #[pyo3(get)]
    source: u32,
    #[pyo3(get)]
    destination: u32,
    #[pyo3(get)]
    size_bytes: u32,
    #[pyo3(get)]
    payload_bytes: u32,
    #[pyo3(get)]
    hops: u16,
    #[pyo3(get)]
    is_feedback: bool,
    #[pyo3(get)]
    is_ecn_capable: bool,
    #[pyo3(get)]
    is_marked: bool,
    #[pyo3(get)]
    is_retransmission: bool,
    before: HeaderBytes,
    /// Header that the policy wrote.
    written: Mutex<Option<HeaderBytes>>,
}

impl Packet {
    pub(super) fn new(now: Time, packet: &core::Packet) -> Packet {
        let segment = &packet.segment;
        Packet {
            now_s: now.seconds(),
            flow: packet.flow.0,
            source: packet.source.0,
            destination: packet.destination.0,
            size_bytes: packet.size,
            payload_bytes: segment.payload,
            hops: packet.hops,
            is_feedback: packet.port == Port::Sender,
            is_ecn_capable: segment.ecn != Ecn::NotCapable,
            is_marked: segment.ecn == Ecn::CongestionExperienced,
            is_retransmission: segment.retransmission,
            before: segment.feedback,
            written: Mutex::new(None),
        }
    }

    /// Writes the header that the policy has set.
    pub(super) fn write_to(&self, packet: &mut core::Packet) {
        if let Some(header) = *self.written.lock().unwrap_or_else(PoisonError::into_inner) {
            packet.segment.feedback = header;
        }
    }
}

#[pymethods]
impl Packet {
    #[getter]
    fn header(&self) -> Cow<'static, [u8]> {
        let written = *self.written.lock().unwrap_or_else(PoisonError::into_inner);
        Cow::Owned(header::unpack(&written.unwrap_or(self.before)).to_vec())
    }

    #[setter]
    fn set_header(&self, value: &[u8]) -> PyResult<()> {
        let wanted = header::unpack(&self.before).len();
        if value.len() != wanted {
            let found = value.len();
            let message = format!("header: found {found} bytes; needs {wanted}, as in this packet");
            return Err(PyValueError::new_err(message));
        }
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = Some(header::pack(value));
        Ok(())
    }
}

/// State of a link at a router.
#[pyclass(extends = Estimates, frozen, get_all, module = "multihop")]
#[derive(Clone)]
pub struct Link {
    queue_bytes: u64,
}

impl Link {
    pub(super) fn new(view: &LinkView) -> PyClassInitializer<Link> {
        PyClassInitializer::from(Estimates::from(view)).add_subclass(Link { queue_bytes: view.queue_bytes })
    }
}
