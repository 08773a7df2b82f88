//! The tables of causes.

use crate::columns::Columns;
use multihop_core::FrameKind;
use multihop_sim::outcome::{Causes, LossCause};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds the tables of causes to those of a run.
pub fn add<'py>(py: Python<'py>, made: &Bound<'py, PyDict>, causes: &Causes) -> PyResult<()> {
    made.set_item("hops", hops(py, causes)?)?;
    made.set_item("drops", drops(py, causes)?)?;
    made.set_item("losses", losses(py, causes)?)?;
    made.set_item("collisions", collisions(py, causes)?)
}

fn name(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Rts => "rts",
        FrameKind::Cts => "cts",
        FrameKind::Data => "data",
        FrameKind::Ack => "ack",
    }
}

fn hops<'py>(py: Python<'py>, causes: &Causes) -> PyResult<Bound<'py, PyDict>> {
    let mut table = Columns::new(py, &causes.hops);
    table.each("flow", |hop| hop.flow)?;
    table.each("feedback", |hop| u8::from(hop.feedback))?;
    table.each("sender", |hop| hop.from)?;
    table.each("receiver", |hop| hop.to)?;
    table.each("rts", |hop| hop.rts)?;
    table.each("data", |hop| hop.data)?;
    table.each("acknowledged", |hop| hop.acknowledged)?;
    table.each("given_up", |hop| hop.given_up)?;
    table.each("wait_mean_s", |hop| hop.wait_mean_s)?;
    table.each("service_mean_s", |hop| hop.service_mean_s)?;
    table.each("airtime", |hop| hop.airtime)?;
    Ok(table.made)
}

fn drops<'py>(py: Python<'py>, causes: &Causes) -> PyResult<Bound<'py, PyDict>> {
    let mut table = Columns::new(py, &causes.drops);
    table.each("flow", |drop| drop.flow)?;
    table.each("feedback", |drop| u8::from(drop.feedback))?;
    table.each("node", |drop| drop.node)?;
    table.drops(|drop| &drop.dropped)?;
    Ok(table.made)
}

fn losses<'py>(py: Python<'py>, causes: &Causes) -> PyResult<Bound<'py, PyDict>> {
    let mut table = Columns::new(py, &causes.losses);
    table.each("sender", |loss| loss.from)?;
    table.each("receiver", |loss| loss.to)?;
    table.names("frame", causes.losses.iter().map(|loss| name(loss.kind)))?;
    for cause in LossCause::ALL {
        table.each(cause.name(), |loss| loss.lost[cause as usize])?;
    }
    Ok(table.made)
}

fn collisions<'py>(py: Python<'py>, causes: &Causes) -> PyResult<Bound<'py, PyDict>> {
    let rows = &causes.collisions;
    let mut table = Columns::new(py, rows);
    table.each("receiver", |hit| hit.receiver)?;
    table.each("sender", |hit| hit.sender)?;
    table.names("frame", rows.iter().map(|hit| name(hit.kind)))?;
    table.each("interferer", |hit| hit.interferer)?;
    table.names("interferer_frame", rows.iter().map(|hit| name(hit.interferer_kind)))?;
    table.optional("interferer_to", |hit| hit.interferer_to.map(f64::from))?;
    table.names("overlap", rows.iter().map(|hit| hit.overlap.name()))?;
    table.each("warned", |hit| u8::from(hit.warned))?;
    table.each("lost", |hit| hit.lost)?;
    Ok(table.made)
}
