//! Measurements of a capture, as columns: one dictionary per interface.

use crate::{CaptureError, controllers, frames, outputs, panics, raised_by_signal, scenario_error, tables};
use multihop_capture::{Capture, MacAddress, NetworkName};
use multihop_core::{Span, Time};
use multihop_measure::{
    AirtimeUse, ChannelSurvey, LinkStatistics, NamedEstimator, SampleMoments, SnifferReport, StampReference,
    StationId, StationStatistics, Survey, SurveyOptions, TimerFault, TransmissionFilter, survey,
};
use multihop_sim::outcome::ESTIMATES;
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Measures a capture file without the GIL. `watch` is called with the number of bytes read, and may raise.
/// `estimators` is a text with `[[measure]]` tables, and its name in messages.
#[pyfunction]
#[pyo3(signature = (path, bin_s, stamps = None, station = None, estimators = None, watch = None))]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn measure<'py>(
    py: Python<'py>,
    path: PathBuf,
    bin_s: f64,
    stamps: Option<&str>,
    station: Option<&str>,
    estimators: Option<(String, String)>,
    watch: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = options(bin_s, stamps, station, estimators)?;
    let watch = watch.map(Bound::unbind);
    let mut raised = None;
    controllers::forget();
    let found = py.detach(|| {
        panics::caught(|| {
            let capture = Capture::open(&path).map_err(|error| capture_error(&error))?;
            survey(capture, &options, |bytes| {
                raised = Python::attach(|py| {
                    py.check_signals()?;
                    watch.as_ref().map(|watch| watch.call1(py, (bytes,))).transpose()
                })
                .err();
                raised.is_none() && !controllers::failed()
            })
            .map_err(|error| capture_error(&error))
        })
    })?;
    tables::raise_pending_signal(py)?;
    controllers::end()?;
    raised.map_or_else(|| view(py, &options, found), Err)
}

const ADDRESS: &str = "the address of one station would do, such as 02:00:00:00:00:01";

fn options(
    bin_s: f64,
    stamps: Option<&str>,
    station: Option<&str>,
    estimators: Option<(String, String)>,
) -> PyResult<SurveyOptions> {
    let stamp_reference = stamp_reference(stamps);
    let station = station.map(|text| {
        text.parse::<MacAddress>()
            .ok()
            .filter(|address| !address.is_group())
            .ok_or_else(|| PyValueError::new_err(format!("station: found {text:?}; {ADDRESS}")))
    });
    let estimators = match estimators {
        None => NamedEstimator::standard(),
        Some((text, origin)) => controllers::gauges(&text, &origin)
            .map_err(scenario_error)?
            .into_iter()
            .map(|(name, estimator)| NamedEstimator { name, estimator })
            .collect(),
    };
    let bin = Span::from_seconds(bin_s).max(Span::from_us(1));
    Ok(SurveyOptions { bin, stamp_reference, station: station.transpose()?, estimators, transmissions: None })
}

fn stamp_reference(stamps: Option<&str>) -> Option<StampReference> {
    match stamps {
        Some("begin") => Some(StampReference::Begin),
        Some("mpdu") => Some(StampReference::Mpdu),
        Some("end") => Some(StampReference::End),
        _ => None,
    }
}

/// Writes the transmissions of a capture on one interface and channel, by default the ones with the most, as
/// a frame log. Transmissions begin `between` these nanoseconds after the first frame; at most `most` are
/// written. Returns the interface, the channel's frequency in MHz if the interface has several, the number of
/// transmissions, the names of interfaces by number, and the reason if the capture could not be read to its
/// end.
#[pyfunction]
#[pyo3(signature = (path, out, name, stamps = None, interface = None, channel = None, between = None, most = usize::MAX))]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments, clippy::type_complexity)] // they are keywords in Python
pub fn capture_frames(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    name: String,
    stamps: Option<&str>,
    interface: Option<usize>,
    channel: Option<u16>,
    between: Option<[u64; 2]>,
    most: usize,
) -> PyResult<(usize, Option<u16>, u64, BTreeMap<usize, String>, Option<String>)> {
    let between = between.map(|between| between.map(Span::from_ns));
    let transmissions = Some(TransmissionFilter { between, most });
    let options = SurveyOptions {
        stamp_reference: stamp_reference(stamps),
        estimators: Vec::new(),
        transmissions,
        ..SurveyOptions::default()
    };
    py.detach(|| {
        panics::caught(|| {
            let capture = Capture::open(&path).map_err(|error| capture_error(&error))?;
            let mut raised = None;
            let found = survey(capture, &options, |_| {
                raised = Python::attach(raised_by_signal);
                raised.is_none()
            })
            .map_err(|error| capture_error(&error))?;
            if let Some(raised) = raised {
                return Err(raised);
            }
            let sniffers = &found.sniffers;
            let names = sniffers.iter().map(|seen| (seen.interface, seen.name.clone().unwrap_or_default()));
            let names = names.collect();
            let several = |number| sniffers.iter().filter(|seen| seen.interface == number).count() > 1;
            let count =
                |seen: &&ChannelSurvey| seen.report.transmissions.as_ref().map_or(0, |kept| kept.count);
            let wanted = sniffers.iter().filter(|seen| {
                interface.is_none_or(|of| of == seen.interface)
                    && channel.is_none_or(|of| of == seen.channel_mhz)
            });
            let Some(ChannelSurvey { interface: number, channel_mhz, report, .. }) = wanted.max_by_key(count)
            else {
                return Err(CaptureError::new_err(
                    "no such interface or channel is in it, or nothing that it saw",
                ));
            };
            let (number, channel) = (*number, several(*number).then_some(*channel_mhz));
            let kept = report.transmissions.clone().expect("they were asked for");
            let found_there = kept.count;
            if (1..=most as u64).contains(&found_there) {
                let written = frames::folder(&out).and_then(|folder| kept.write(name, report, folder));
                written.map_err(|error| outputs::os_error(&error))?;
            }
            Ok((number, channel, found_there, names, found.broken))
        })
    })
}

fn capture_error(error: &multihop_capture::CaptureError) -> PyErr {
    CaptureError::new_err(error.to_string())
}

/// Converts a survey; each interface is dropped after its conversion, because it may have many rows.
fn view<'py>(py: Python<'py>, options: &SurveyOptions, found: Survey) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("records", found.records)?;
    made.set_item("bytes", found.bytes)?;
    made.set_item("broken", found.broken.as_deref())?;
    let interfaces = PyList::empty(py);
    for ChannelSurvey { interface: number, name, channel_mhz, report } in found.sniffers {
        let one = interface(py, &report)?;
        one.set_item("estimates", estimates(py, options, &report)?)?;
        one.set_item("interface", number)?;
        one.set_item("channel_mhz", channel_mhz)?;
        one.set_item("name", name.as_deref())?;
        interfaces.append(one)?;
    }
    made.set_item("interfaces", interfaces)?;
    Ok(made)
}

fn interface<'py>(py: Python<'py>, found: &SnifferReport) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("start_s", found.start.map(multihop_core::Time::seconds))?;
    made.set_item("length_s", found.length.seconds())?;
    made.set_item("bin_s", found.bin.seconds())?;
    let stamp_reference = match found.stamp_reference {
        StampReference::Begin => "begin",
        StampReference::Mpdu => "mpdu",
        StampReference::End => "end",
    };
    made.set_item("stamps", stamp_reference)?;
    made.set_item("step_s", found.step.seconds())?;
    made.set_item("stamp_pairs", found.pairs)?;
    made.set_item("own", found.own.map(|own| name(found, own)))?;
    made.set_item("at", found.at.map(|at| name(found, at)))?;
    made.set_item("busy_s", array(py, found.busy.iter().map(|span| span.seconds())))?;
    made.set_item("airtime", airtime(py, found)?)?;
    made.set_item("stations", stations(py, found)?)?;
    made.set_item("links", links(py, found)?)?;
    made.set_item("rates", rates(py, found)?)?;
    made.set_item("quality", quality(py, found)?)?;
    Ok(made)
}

fn airtime<'py>(py: Python<'py>, found: &SnifferReport) -> PyResult<Bound<'py, PyDict>> {
    let rows = &found.rows;
    let made = PyDict::new(py);
    made.set_item("bin", array(py, rows.iter().map(|row| row.bin)))?;
    let unknown = i64::from(-1_i8);
    let station = |id: StationId| i64::try_from(id.index()).unwrap_or(unknown);
    made.set_item("station", array(py, rows.iter().map(|row| row.station.map_or(unknown, station))))?;
    made.set_item("kind", array(py, rows.iter().map(|row| row.kind as u8)))?;
    made.set_item("frames", array(py, rows.iter().map(|row| row.cell.frames)))?;
    made.set_item("bytes", array(py, rows.iter().map(|row| row.cell.bytes)))?;
    made.set_item("airtime_s", array(py, rows.iter().map(|row| row.cell.airtime.seconds())))?;
    made.set_item("kinds", AirtimeUse::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>())?;
    Ok(made)
}

fn estimates<'py>(
    py: Python<'py>,
    options: &SurveyOptions,
    found: &SnifferReport,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = &found.readings;
    let start = found.start.unwrap_or(found.origin).since(found.origin);
    let made = PyDict::new(py);
    made.set_item("time_s", array(py, rows.iter().map(|row| row.at.since(Time::ZERO + start).seconds())))?;
    made.set_item("estimator", array(py, rows.iter().map(|row| row.estimator as u16)))?;
    for (name, _, _, value) in ESTIMATES {
        made.set_item(name, array(py, rows.iter().map(|row| value(&row.view).unwrap_or(f64::NAN))))?;
    }
    made.set_item(
        "names",
        options.estimators.iter().map(|estimator| estimator.name.as_str()).collect::<Vec<_>>(),
    )?;
    Ok(made)
}

fn stations<'py>(py: Python<'py>, found: &SnifferReport) -> PyResult<Bound<'py, PyDict>> {
    let all = &found.stations;
    let made = PyDict::new(py);
    made.set_item("station", all.iter().map(|station| station.address.to_string()).collect::<Vec<_>>())?;
    // An SSID may not be UTF-8.
    let network_name = |station: &StationStatistics| {
        let bytes = station.network_name.as_ref().map_or(&[][..], NetworkName::as_bytes);
        String::from_utf8_lossy(bytes).into_owned()
    };
    made.set_item("network", all.iter().map(network_name).collect::<Vec<_>>())?;
    made.set_item("frames", array(py, all.iter().map(|station| station.frames)))?;
    made.set_item("data_frames", array(py, all.iter().map(|station| station.data)))?;
    made.set_item("retries", array(py, all.iter().map(|station| station.retries)))?;
    made.set_item("airtime_s", array(py, all.iter().map(|station| station.airtime.seconds())))?;
    made.set_item("signal_mean_dbm", array(py, all.iter().map(|station| mean(&station.signal_dbm))))?;
    made.set_item("service_mean_s", array(py, all.iter().map(|station| mean(&station.service_s))))?;
    made.set_item("service_count", array(py, all.iter().map(|station| station.service_s.count)))?;
    made.set_item("frames_numbered", array(py, all.iter().map(|station| station.numbered)))?;
    made.set_item("frames_missed", array(py, all.iter().map(|station| station.missed)))?;
    Ok(made)
}

fn links<'py>(py: Python<'py>, found: &SnifferReport) -> PyResult<Bound<'py, PyDict>> {
    let all = &found.links;
    let made = PyDict::new(py);
    made.set_item("sender", all.iter().map(|(sender, _, _)| name(found, *sender)).collect::<Vec<_>>())?;
    made.set_item("receiver", all.iter().map(|(_, receiver, _)| name(found, *receiver)).collect::<Vec<_>>())?;
    made.set_item("exchanges", array(py, all.iter().map(|(_, _, link)| link.exchanges)))?;
    made.set_item("answered", array(py, all.iter().map(|(_, _, link)| link.answered)))?;
    made.set_item("retries", array(py, all.iter().map(|(_, _, link)| link.retries)))?;
    made.set_item("reserved", array(py, all.iter().map(|(_, _, link)| link.reserved)))?;
    made.set_item("blocks", array(py, all.iter().map(|(_, _, link)| link.blocks)))?;
    made.set_item("loaded", array(py, all.iter().map(|(_, _, link)| link.loaded)))?;
    made.set_item("frames", array(py, all.iter().map(|(_, _, link)| link.frames)))?;
    made.set_item("acknowledged", array(py, all.iter().map(|(_, _, link)| link.acknowledged)))?;
    made.set_item("bytes", array(py, all.iter().map(|(_, _, link)| link.bytes)))?;
    made.set_item("occupied_s", array(py, all.iter().map(|(_, _, link)| link.occupied.seconds())))?;
    made.set_item("capacity_bps", array(py, all.iter().map(|(_, _, link)| mean(&link.capacity_bps))))?;
    let deviation = |samples: &SampleMoments| samples.deviation().unwrap_or(f64::NAN);
    made.set_item(
        "capacity_deviation_bps",
        array(py, all.iter().map(|(_, _, link)| deviation(&link.capacity_bps))),
    )?;
    let fastest = |link: &LinkStatistics| link.fastest.map_or(f64::NAN, |rate| rate.bps() as f64);
    made.set_item("phy_rate_bps", array(py, all.iter().map(|(_, _, link)| fastest(link))))?;
    made.set_item("capacity_batches", array(py, all.iter().map(|(_, _, link)| link.capacity_bps.count)))?;
    Ok(made)
}

fn rates<'py>(py: Python<'py>, found: &SnifferReport) -> PyResult<Bound<'py, PyDict>> {
    let all = &found.rates;
    let made = PyDict::new(py);
    made.set_item("sender", all.iter().map(|count| name(found, count.sender)).collect::<Vec<_>>())?;
    made.set_item("receiver", all.iter().map(|count| name(found, count.receiver)).collect::<Vec<_>>())?;
    made.set_item("rate_bps", array(py, all.iter().map(|count| count.rate.bps() as f64)))?;
    made.set_item("frames", array(py, all.iter().map(|count| count.frames)))?;
    Ok(made)
}

fn quality<'py>(py: Python<'py>, found: &SnifferReport) -> PyResult<Bound<'py, PyDict>> {
    let (grade, said) = found.quality.verdict();
    let made = PyDict::new(py);
    made.set_item("grade", grade.name())?;
    made.set_item("reasons", said)?;
    let q = &found.quality;
    for (name, count) in [
        ("records", q.records),
        ("unreadable", q.unreadable),
        ("damaged", q.damaged),
        ("cut", q.cut),
        ("damaged_headers", q.damaged_headers),
        ("fcs_overruled", q.fcs_overruled),
        ("unknown_airtime", q.unknown_airtime),
        ("unknown_extension", q.unknown_extension),
        ("aggregates", q.aggregates),
        ("partial_aggregates", q.partial_aggregates),
        ("numbered", q.numbered),
        ("missed", q.missed),
        ("acks", q.acks),
        ("orphan_acks", q.orphan_acks),
        ("to_answer", q.to_answer),
        ("unanswered", q.unanswered),
        ("block_acks", q.block_acks),
        ("orphan_block_acks", q.orphan_block_acks),
        ("timed", q.timed),
        ("impossible", q.impossible),
        ("stamp_pairs", q.stamp_pairs),
        ("other_pairs", q.other_pairs),
        ("wild_stamps", q.outlier_frames),
        ("wild_beside", q.replaced_stamps),
        ("host_steps", q.host_steps),
        ("copies", q.copies),
        ("other_records", q.other_records),
        ("stalled", q.stalled),
        ("timer_steps", q.timer_steps),
        ("backward", q.backward),
        ("channel_changes", q.channel_changes),
        ("stations_beyond", q.stations_beyond),
    ] {
        made.set_item(name, count)?;
    }
    let fault = q.timer_fault.map(|fault| match fault {
        TimerFault::Stopped => "stands still",
        TimerFault::WrongSpeed => "runs wrong",
    });
    made.set_item("timer_fault", fault)?;
    made.set_item("airtime_s", q.airtime.seconds())?;
    made.set_item("overlapping_s", q.overlapping.seconds())?;
    made.set_item("set_back_s", q.set_back.seconds())?;
    made.set_item("longest_silence_s", q.longest_silence.seconds())?;
    made.set_item("elsewhere_s", q.elsewhere.seconds())?;
    made.set_item("uncertain_s", q.uncertain.seconds())?;
    made.set_item("broken", q.broken)?;
    Ok(made)
}

fn name(found: &SnifferReport, id: StationId) -> String {
    found.stations[id.index()].address.to_string()
}

fn mean(samples: &SampleMoments) -> f64 {
    if samples.count == 0 { f64::NAN } else { samples.mean }
}

fn array<T: Element>(py: Python<'_>, values: impl Iterator<Item = T>) -> Bound<'_, PyAny> {
    values.collect::<Vec<T>>().into_pyarray(py).into_any()
}
