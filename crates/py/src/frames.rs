//! Frame logs: which one a run writes, and the columns of one that was written.

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

/// Of which nodes logs are (of all if there are none), of which interval, in nanoseconds, and of which flows
/// (of all if there are none).
pub type Part = (Vec<u32>, Option<[u64; 2]>, Vec<u32>);

/// What the logs of this part are to have.
pub fn selection((nodes, between, flows): &Part) -> Selection {
    Selection {
        nodes: nodes.iter().copied().map(NodeId).collect(),
        flows: flows.iter().copied().map(FlowId).collect(),
        between: between.map(|between| between.map(Time::from_ns)),
    }
}

/// The log that a run of this is to write.
pub fn opened(config: &Config, path: &Path, part: &Part) -> io::Result<FrameLog> {
    let has_room = available_parallelism().is_ok_and(|threads| threads.get() > 1);
    let new = if has_room { FrameLog::on_a_thread } else { FrameLog::new };
    new(config, selection(part), folder(path)?)
}

/// A folder at this path, which is made if it is not there, for a log.
pub fn folder(path: &Path) -> io::Result<Box<Folder>> {
    outputs::made(path)?;
    let open: Open = |file| Ok(Box::new(outputs::created(file)?));
    Ok(Box::new(Folder::new(path.to_owned(), open)))
}

/// The description of the frame log in a folder, as JSON, the columns of its tables, and why only its
/// beginning is there, if so. With `between`, in nanoseconds, there is only what begins in it; more
/// transmissions than `most` in batches that overlap it are an error.
#[pyfunction]
#[pyo3(signature = (path, between = None, most = u64::MAX))]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn read_frames(
    py: Python<'_>,
    path: PathBuf,
    between: Option<[u64; 2]>,
    most: u64,
) -> PyResult<(String, Bound<'_, PyDict>, Option<String>)> {
    let mut log = py.detach(|| log_in(&path, between, most))?;
    tables::raise_pending_signal(py)?;
    let made = PyDict::new(py);
    for (table, _) in TABLES {
        let entries = PyDict::new(py);
        for (column, values) in table.columns().iter().zip(std::mem::take(log.tables.columns_mut(table))) {
            let values = match values {
                Values::I64(values) => values,
                narrow => narrow.iter().collect(),
            };
            entries.set_item(column.name, values.into_pyarray(py))?;
        }
        made.set_item(table.name(), entries)?;
    }
    Ok((log.head, made, log.cut_short))
}

/// The frame log in a folder as the viewer reads it, its description as JSON, why only its beginning is
/// there, if so, and how many transmissions it has: of an interval and up to a number as [`read_frames`].
#[pyfunction]
#[pyo3(signature = (path, between = None, most = u64::MAX))]
#[allow(clippy::needless_pass_by_value)] // what PyO3 extracts is owned
pub fn pack_frames(
    py: Python<'_>,
    path: PathBuf,
    between: Option<[u64; 2]>,
    most: u64,
) -> PyResult<(Bound<'_, PyBytes>, String, Option<String>, usize)> {
    let (packed, log) = py.detach(|| {
        let log = log_in(&path, between, most)?;
        Ok::<_, PyErr>((page::packed(&log), log))
    })?;
    tables::raise_pending_signal(py)?;
    let transmissions = log.tables.rows(Table::Transmissions);
    Ok((PyBytes::new(py, &packed), log.head, log.cut_short, transmissions))
}

fn log_in(path: &Path, between: Option<[u64; 2]>, most: u64) -> PyResult<Log> {
    panics::caught(|| {
        read(path, between, most).map_err(|error| match error {
            ReadError::Io(error) => outputs::os_error(&error),
            error => CaptureError::new_err(error.to_string()),
        })
    })
}

/// Of each table its name, what a row is, and of each column name, unit and meaning; and what enumerations
/// stand for.
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
