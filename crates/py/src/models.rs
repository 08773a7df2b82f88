//! Closed forms that estimators and schemes use.

use crate::{panics, scenario_error};
use multihop_core::Span;
use multihop_link::{ContentionDelay, LinkCapacity, PhyTimes, ServiceTimes, SuccessProbability};
use multihop_scenario::Overrides;
use multihop_sim::capacity::phy_times;
use multihop_sim::preflight::power_ratio_of_delivery;
use multihop_transport::{Equation, EquationPath};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Capacity of a link by the model of [`LinkCapacity`], with the PHY of a scenario. Arguments: bytes of a
/// frame, share of frames that the channel loses, share of time that others use, back-off in seconds (none
/// for the mean of the first window), transport acknowledgements if any (bytes of a frame, and frames per
/// acknowledgement), and bytes of headers. Results are in seconds and bits per second.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the model's
pub fn link_capacity<'py>(
    py: Python<'py>,
    text: &str,
    origin: &str,
    frame: f64,
    loss: f64,
    others: f64,
    backoff: Option<f64>,
    acknowledgement: Option<(f64, f64)>,
    header: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let phy = phy_of(text, origin)?;
    let backoff = backoff.map_or(phy.backoff, Span::from_seconds);
    let link = LinkCapacity {
        frame,
        rate: phy.data_rate,
        loss,
        others,
        overhead: LinkCapacity::overhead(&phy, backoff),
    };
    let capacity = match acknowledgement {
        None => link.bps(),
        Some((bytes, per)) => link.bps_with_acknowledgements(bytes, per),
    };
    let made = PyDict::new(py);
    made.set_item("backoff_s", backoff.seconds())?;
    made.set_item("overhead_s", link.overhead.seconds())?;
    made.set_item("transmission_s", link.transmission())?;
    made.set_item("phy_bps", link.phy_bps())?;
    made.set_item("capacity_bps", capacity)?;
    made.set_item("goodput_bps", capacity * link.above(header))?;
    Ok(made)
}

/// Delays in seconds among saturated stations, with the PHY and the MAC header of a scenario: of packets of
/// this size, and of feedback to them.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the model's
pub fn contention_delay<'py>(
    py: Python<'py>,
    text: &str,
    origin: &str,
    stations: u32,
    hops: u32,
    packet: u32,
    feedback: u32,
    handshake: bool,
    linear: bool,
    growing_windows: bool,
    propagation: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let phy = phy_of(text, origin)?;
    let success = if linear { SuccessProbability::Linear } else { SuccessProbability::FixedPoint };
    let model = ContentionDelay { success, growing_windows, ..ContentionDelay::new(&phy) };
    let times = |size| ServiceTimes::new(&phy, size, handshake, Span::from_seconds(propagation));
    let [data, back] = [packet, feedback].map(times);
    let contention = model.among(stations);
    let made = PyDict::new(py);
    made.set_item("attempt", contention.attempt)?;
    made.set_item("success", contention.success)?;
    made.set_item("step_s", contention.step(phy.slot, &data))?;
    made.set_item("steps", contention.steps)?;
    made.set_item("success_s", data.success)?;
    made.set_item("collision_s", data.collision)?;
    made.set_item("delay_s", model.delay(stations, &data))?;
    made.set_item("feedback_delay_s", model.delay(stations, &back))?;
    made.set_item("round_trip_s", model.round_trip(hops, &data, &back))?;
    Ok(made)
}

/// TFRC's throughput equation: the rate in bytes per second at a loss event rate, or the loss event rate at a
/// given rate. Arguments are `(s, R, p or none, X or none)`, with times in seconds.
#[pyfunction]
pub fn throughput_equation(
    packet_size: f64,
    rtt: f64,
    acknowledged: f64,
    clamp: bool,
    loss_event_rate: Option<f64>,
    rate: Option<f64>,
) -> (f64, f64) {
    let equation = Equation { acknowledged, clamp, ..Equation::default() };
    let path = EquationPath::new(packet_size, rtt);
    let p = loss_event_rate.unwrap_or_else(|| equation.loss_event_rate(&path, rate.unwrap_or(0.0)));
    (equation.rate(&path, p), p)
}

/// Signal-to-noise ratios in dB at which probes of a scenario's medium arrive at its data rate with these
/// probabilities, by the error model of runs. The medium has measured links with powers.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn snr_of_delivery(text: &str, origin: &str, shares: Vec<f64>) -> PyResult<Vec<f64>> {
    panics::caught(|| {
        let config = crate::controllers::load(text, origin, &Overrides::default()).map_err(scenario_error)?;
        let ratios = power_ratio_of_delivery(&config, &shares);
        let ratios = ratios.ok_or_else(|| PyValueError::new_err("the medium has no probes and powers"))?;
        Ok(ratios.into_iter().map(|ratio| 10.0 * ratio.log10()).collect())
    })
}

/// PHY and MAC durations of a scenario, for models.
fn phy_of(text: &str, origin: &str) -> PyResult<PhyTimes> {
    panics::caught(|| {
        let config = crate::controllers::load(text, origin, &Overrides::default()).map_err(scenario_error)?;
        Ok(phy_times(&config))
    })
}
