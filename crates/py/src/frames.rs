//! Frame logs: the log that a run writes, and the columns of an existing log.

use crate::{CaptureError, outputs, panics, tables};
use multihop_core::{FlowId, NodeId, Time};
use multihop_frames::layout::{ENUMERATIONS, TABLES};
use multihop_frames::{Coding, check, cut, read};
use multihop_sim::config::Config;
use multihop_sim::framelog::{FrameLog, Selection};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::io;
use std::path::Path;
use std::thread::available_parallelism;

/// Selection of a log: nodes (all if empty), interval in nanoseconds, and flows (all if empty).
pub type Part = (Vec<u32>, Option<[u64; 2]>, Vec<u32>);

/// Converts the arguments of Python to a selection.
pub fn selection((nodes, between, flows): &Part) -> Selection {
    Selection {
        nodes: nodes.iter().copied().map(NodeId).collect(),
        flows: flows.iter().copied().map(FlowId).collect(),
        between: between.map(|between| between.map(Time::from_ns)),
    }
}

/// Creates the frame log that a run of this configuration writes.
pub fn opened(config: &Config, path: &Path, part: &Part) -> io::Result<FrameLog> {
    let out = Box::new(io::BufWriter::new(outputs::created(path)?));
    let has_room = available_parallelism().is_ok_and(|threads| threads.get() > 1);
    let new = if has_room { FrameLog::on_a_thread } else { FrameLog::new };
    new(config, selection(part), out)
}

/// Reads a frame log: its description as JSON, the columns of its tables, and the number of the first missing
/// block if the log is truncated. With `between`, in nanoseconds, only transmissions that begin in it are
/// returned; more than `most` transmissions in overlapping blocks are an error.
#[pyfunction]
#[pyo3(signature = (data, between = None, most = u64::MAX))]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn read_frames(
    py: Python<'_>,
    data: Vec<u8>,
    between: Option<[u64; 2]>,
    most: u64,
) -> PyResult<(String, Bound<'_, PyDict>, Option<String>)> {
    let log = py.detach(|| {
        panics::caught(|| {
            read(&data, between, most).map_err(|error| CaptureError::new_err(error.to_string()))
        })
    })?;
    tables::raise_pending_signal(py)?;
    let made = PyDict::new(py);
    for ((table, _), columns) in TABLES.iter().zip(log.tables) {
        let entries = PyDict::new(py);
        for (column, values) in table.columns().iter().zip(columns.0) {
            entries.set_item(column.name, values.into_pyarray(py))?;
        }
        made.set_item(table.name(), entries)?;
    }
    Ok((log.head, made, log.cut_short.map(|gap| gap.to_string())))
}

/// Checks a frame log: its description as JSON, the number of the first missing block if the log is
/// truncated, and the number of transmissions. As [`read_frames`], without the tables.
#[pyfunction]
#[pyo3(signature = (data, between = None, most = u64::MAX))]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn check_frames(
    py: Python<'_>,
    data: Vec<u8>,
    between: Option<[u64; 2]>,
    most: u64,
) -> PyResult<(String, Option<String>, u64)> {
    let log = py.detach(|| {
        panics::caught(|| {
            check(&data, between, most).map_err(|error| CaptureError::new_err(error.to_string()))
        })
    })?;
    Ok((log.head, log.cut_short.map(|gap| gap.to_string()), log.transmissions))
}

/// Copies the part of a frame log that begins in an interval of nanoseconds.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn cut_frames(py: Python<'_>, data: Vec<u8>, between: [u64; 2]) -> PyResult<Bound<'_, PyBytes>> {
    let made = py.detach(|| {
        panics::caught(|| cut(&data, between).map_err(|error| CaptureError::new_err(error.to_string())))
    })?;
    Ok(PyBytes::new(py, &made))
}

/// Layout of frame logs: for each table, its name, its row, and name, unit, coding and meaning of each
/// column; and the values of enumerations.
#[pyfunction]
pub fn frame_layout(py: Python<'_>) -> PyResult<(Bound<'_, PyList>, Bound<'_, PyDict>)> {
    let coding = |coding: Coding, table: multihop_frames::Table| {
        let by = |by: usize| table.columns()[by].name;
        match coding {
            Coding::Plain => "plain".to_owned(),
            Coding::Optional => "optional".to_owned(),
            Coding::Delta => "delta".to_owned(),
            Coding::DeltaBy(key) => format!("delta by {}", by(key)),
            Coding::Like(keys) => format!("like, by {}", keys.map(by).join(" and ")),
            Coding::Modelled => "modelled".to_owned(),
        }
    };
    let tables = TABLES.iter().map(|(table, row)| {
        let columns = table.columns().iter();
        let columns: Vec<_> = columns
            .map(|column| (column.name, column.unit, coding(column.coding, *table), column.meaning))
            .collect();
        (table.name(), *row, columns)
    });
    let enumerations = PyDict::new(py);
    for (name, values) in ENUMERATIONS {
        enumerations.set_item(name, values.to_vec())?;
    }
    Ok((PyList::new(py, tables)?, enumerations))
}
