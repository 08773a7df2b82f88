//! Tables of a run as columns: numbers as `NumPy` arrays, names as lists. Missing values are NaN.

use multihop_sim::config::Config;
use multihop_sim::mobility::places;
use multihop_sim::outcome::{At, Outcome, Table, Value, Values, cause_tables, tables};
use numpy::{Element, IntoPyArray};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Raises a pending interrupt before the first use of `NumPy`, which would panic on it.
pub fn raise_pending_signal(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Converts all tables; those of wires, access categories, measurements and positions only if the
/// configuration has any.
pub fn output<'py>(py: Python<'py>, config: &Config, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    raise_pending_signal(py)?;
    let run = Run { py, config, measured_s: outcome.measured_s, made: PyDict::new(py) };
    run.scalars(outcome)?;
    run.table(&outcome.flows)?;
    run.table(&outcome.nodes)?;
    run.table(&outcome.links)?;
    if !config.topology.wires.is_empty() {
        run.table(&outcome.wires)?;
    }
    if config.mac.edca.is_some() {
        run.table(&outcome.categories)?;
    }
    run.table(&outcome.series)?;
    run.table(&outcome.delays)?;
    if !config.recording.measurements.is_empty() {
        run.table(&outcome.measurements)?;
    }
    let places = places(config);
    if !places.is_empty() {
        run.table(&places)?;
    }
    if config.recording.causes {
        run.table(&outcome.causes.hops)?;
        run.table(&outcome.causes.drops)?;
        run.table(&outcome.causes.losses)?;
        run.table(&outcome.causes.collisions)?;
    }
    Ok(run.made)
}

/// Descriptions of the tables of a run, or of causes if `causes` is set: name, row, and name, unit and
/// meaning of each column.
#[pyfunction]
#[pyo3(signature = (causes = false))]
pub fn columns(py: Python<'_>, causes: bool) -> PyResult<Bound<'_, PyList>> {
    let described = if causes { cause_tables() } else { tables() };
    PyList::new(py, described.into_iter().map(|table| (table.name, table.row, table.columns)))
}

/// Dictionary of tables under construction.
struct Run<'py, 'run> {
    py: Python<'py>,
    config: &'run Config,
    measured_s: f64,
    made: Bound<'py, PyDict>,
}

impl<'py> Run<'py, '_> {
    fn table<Row: Table>(&self, rows: &[Row]) -> PyResult<()> {
        let table = PyDict::new(self.py);
        for column in Row::columns() {
            let made = match &column.values {
                Values::Derived => continue,
                Values::Counts(value) => self.array(rows, value),
                Values::Indices(value) => self.array(rows, value),
                Values::Flags(value) => self.array(rows, value),
                Values::Numbers(value) => self.array(rows, value),
                Values::Names(value) => self.each(rows, value).into_bound_py_any(self.py)?,
            };
            table.set_item(column.name, made)?;
        }
        self.made.set_item(Row::NAME, table)
    }

    fn scalars(&self, outcome: &Outcome) -> PyResult<()> {
        let (py, at) = (self.py, self.at(0, outcome));
        let table = PyDict::new(py);
        for column in Outcome::columns() {
            let made = match &column.values {
                Values::Derived => continue,
                Values::Counts(value) => value(&at).into_bound_py_any(py),
                Values::Indices(value) => value(&at).into_bound_py_any(py),
                Values::Flags(value) => value(&at).into_bound_py_any(py),
                Values::Numbers(value) => value(&at).into_bound_py_any(py),
                Values::Names(value) => value(&at).into_bound_py_any(py),
            };
            table.set_item(column.name, made?)?;
        }
        self.made.set_item(Outcome::NAME, table)
    }

    fn array<Row, T: Element>(&self, rows: &[Row], value: &Value<Row, T>) -> Bound<'py, PyAny> {
        self.each(rows, value).into_pyarray(self.py).into_any()
    }

    fn each<Row, T>(&self, rows: &[Row], value: &Value<Row, T>) -> Vec<T> {
        rows.iter().enumerate().map(|(index, row)| value(&self.at(index, row))).collect()
    }

    fn at<'a, Row>(&'a self, index: usize, row: &'a Row) -> At<'a, Row> {
        At { config: self.config, measured_s: self.measured_s, index, row }
    }
}
