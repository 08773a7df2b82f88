//! Frame logs: creation for a run, and reading of their columns.

use crate::{CaptureError, outputs, panics, tables};
use multihop_core::{FlowId, NodeId, Time};
use multihop_frames::files::{Folder, Open, ReadError, read};
use multihop_frames::layout::{ENUMERATIONS, TABLES};
use multihop_frames::{Log, Table, Values, page};
use multihop_sim::config::Config;
use multihop_sim::logs::{FrameLog, Selection};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

/// Selection of logs: nodes, interval in nanoseconds, flows. No nodes or no flows select all of them.
pub type Part = (Vec<u32>, Option<[u64; 2]>, Vec<u32>);

/// Converts a selection to that of the engine.
pub fn selection((nodes, between, flows): &Part) -> Selection {
    Selection {
        nodes: nodes.iter().copied().map(NodeId).collect(),
        flows: flows.iter().copied().map(FlowId).collect(),
        between: between.map(|between| between.map(Time::from_ns)),
    }
}

/// Creates the frame log of a run.
pub fn create(config: &Config, path: &Path, part: &Part) -> io::Result<FrameLog> {
    let has_processors = available_parallelism().is_ok_and(|threads| threads.get() > 1);
    let new = if has_processors { FrameLog::on_a_thread } else { FrameLog::new };
    new(config, selection(part), folder(path)?)
}

/// Returns a sink for the folder at `path`, which is created if it does not exist.
pub fn folder(path: &Path) -> io::Result<Box<Folder>> {
    outputs::made(path)?;
    let open: Open = |file| Ok(Box::new(outputs::created(file)?));
    Ok(Box::new(Folder::new(path.to_owned(), open)))
}

/// Reads a frame log. Returns its description as JSON, the columns of its tables, and the reason why the log
/// is incomplete, if so.
///
/// `between`, in nanoseconds, selects the rows that begin in this interval. More than `limit` transmissions
/// in the batches that overlap it are an error.
#[pyfunction]
#[pyo3(signature = (path, between = None, limit = u64::MAX))]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn read_frames(
    py: Python<'_>,
    path: PathBuf,
    between: Option<[u64; 2]>,
    limit: u64,
) -> PyResult<(String, Bound<'_, PyDict>, Option<String>)> {
    let mut log = py.detach(|| read_log(&path, between, limit))?;
    tables::raise_pending_signal(py)?;
    let tables = PyDict::new(py);
    for (table, _) in TABLES {
        let columns = PyDict::new(py);
        for (column, values) in table.columns().iter().zip(std::mem::take(log.tables.columns_mut(table))) {
            let values = match values {
                Values::I64(values) => values,
                narrow => narrow.iter().collect(),
            };
            columns.set_item(column.name, values.into_pyarray(py))?;
        }
        tables.set_item(table.name(), columns)?;
    }
    Ok((log.head, tables, log.cut_short))
}

/// Packs a frame log for the viewer, with the parameters of [`read_frames`]. Returns the packed log, its
/// description as JSON, the reason why the log is incomplete, if so, and its number of transmissions.
#[pyfunction]
#[pyo3(signature = (path, between = None, limit = u64::MAX))]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn pack_frames(
    py: Python<'_>,
    path: PathBuf,
    between: Option<[u64; 2]>,
    limit: u64,
) -> PyResult<(Bound<'_, PyBytes>, String, Option<String>, usize)> {
    let (packed, log) = py.detach(|| {
        let log = read_log(&path, between, limit)?;
        Ok::<_, PyErr>((page::packed(&log), log))
    })?;
    tables::raise_pending_signal(py)?;
    let transmissions = log.tables.rows(Table::Transmissions);
    Ok((PyBytes::new(py, &packed), log.head, log.cut_short, transmissions))
}

fn read_log(path: &Path, between: Option<[u64; 2]>, limit: u64) -> PyResult<Log> {
    panics::caught(|| {
        read(path, between, limit).map_err(|error| match error {
            ReadError::Io(error) => outputs::os_error(&error),
            error => CaptureError::new_err(error.to_string()),
        })
    })
}

/// Returns name, meaning of a row and columns of each table, with name, unit and meaning of each column; and
/// the names of all enumerations.
#[pyfunction]
pub fn frame_layout(py: Python<'_>) -> PyResult<(Bound<'_, PyList>, Bound<'_, PyDict>)> {
    let tables = TABLES.iter().map(|(table, row)| {
        let columns = table.columns().iter();
        let columns: Vec<_> = columns.map(|column| (column.name, column.unit, column.meaning)).collect();
        (table.name(), *row, columns)
    });
    let enumerations = PyDict::new(py);
    for (name, values) in ENUMERATIONS {
        enumerations.set_item(name, values.to_vec())?;
    }
    Ok((PyList::new(py, tables)?, enumerations))
}
