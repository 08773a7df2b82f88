//! Tables as columns, read off rows.

use multihop_core::DropCause;
use multihop_link::LinkView;
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The column of losses of a cause.
pub fn dropped(cause: DropCause) -> String {
    format!("dropped_{}", cause.name())
}

/// A table in the making: columns that are read off rows.
pub struct Columns<'py, 'rows, Row> {
    py: Python<'py>,
    rows: &'rows [Row],
    /// What there is so far.
    pub made: Bound<'py, PyDict>,
}

impl<'py, 'rows, Row> Columns<'py, 'rows, Row> {
    /// No columns yet.
    pub fn new(py: Python<'py>, rows: &'rows [Row]) -> Self {
        Columns { py, rows, made: PyDict::new(py) }
    }

    /// A column.
    pub fn column<T: Element>(&mut self, name: impl AsRef<str>, values: Vec<T>) -> PyResult<()> {
        self.made.set_item(name.as_ref(), values.into_pyarray(self.py))
    }

    /// Names, one for each row.
    pub fn names<'a>(&mut self, name: &str, values: impl Iterator<Item = &'a str>) -> PyResult<()> {
        self.made.set_item(name, values.collect::<Vec<_>>())
    }

    /// A value of each row.
    pub fn each<T: Element>(&mut self, name: &str, value: impl Fn(&Row) -> T) -> PyResult<()> {
        self.column(name, self.rows.iter().map(value).collect())
    }

    /// A value of each row; NaN where there is none.
    pub fn optional(&mut self, name: &str, value: impl Fn(&Row) -> Option<f64>) -> PyResult<()> {
        self.each(name, |row| value(row).unwrap_or(f64::NAN))
    }

    /// What an estimator said.
    pub fn view(&mut self, view: impl Fn(&Row) -> LinkView) -> PyResult<()> {
        self.optional("capacity_bps", |row| view(row).capacity_bps)?;
        self.optional("available_bps", |row| view(row).available_bps)?;
        self.optional("packet_throughput_bps", |row| view(row).packet_throughput_bps)?;
        self.optional("service_delay_s", |row| view(row).service_delay_s)?;
        self.optional("transmission_efficiency", |row| view(row).transmission_efficiency)?;
        self.optional("busy_ratio", |row| view(row).busy_ratio)
    }

    /// Losses by cause.
    pub fn drops(&mut self, counts: impl Fn(&Row) -> &[u64; DropCause::ALL.len()]) -> PyResult<()> {
        for (index, cause) in DropCause::ALL.iter().enumerate() {
            self.column(dropped(*cause), self.rows.iter().map(|row| counts(row)[index]).collect())?;
        }
        Ok(())
    }
}
