//! Tables of a run as columns. Missing values are `null`.

use multihop_sim::config::Config;
use multihop_sim::mobility::places;
use multihop_sim::outcome::{At, Outcome, Table, Values, tables};
use serde_json::{Value, json};

/// Converts the tables: table → column → values, and single values for the summary. Tables without rows are
/// omitted, and the table of delays, which no page shows.
pub fn output(config: &Config, outcome: &Outcome) -> Value {
    let run = Run { config, measured_s: outcome.measured_s };
    let summary = run.columns(std::slice::from_ref(outcome)).into_iter().flatten();
    let summary = summary.map(|(name, all)| (name, all[0].clone())).collect();
    let tables = [
        Some((Outcome::NAME.to_owned(), summary)),
        run.table(&outcome.flows),
        run.table(&outcome.nodes),
        run.table(&outcome.links),
        run.table(&outcome.wires),
        run.table(&outcome.categories),
        run.table(&outcome.series),
        run.table(&outcome.measurements),
        run.table(&places(config)),
    ];
    Value::Object(tables.into_iter().flatten().collect())
}

/// Descriptions of all tables: name, row, and name, unit and meaning of each column.
pub fn columns() -> Value {
    let described = tables().into_iter().map(|table| {
        let columns = table.columns.into_iter();
        let columns: Vec<Value> = columns
            .map(|(name, unit, meaning)| json!({ "name": name, "unit": unit, "meaning": meaning }))
            .collect();
        json!({ "name": table.name, "row": table.row, "columns": columns })
    });
    described.collect()
}

/// Context of the rows of a run.
struct Run<'a> {
    config: &'a Config,
    measured_s: f64,
}

impl Run<'_> {
    fn table<Row: Table>(&self, rows: &[Row]) -> Option<(String, Value)> {
        let columns = self.columns(rows)?.into_iter().map(|(name, values)| (name, Value::Array(values)));
        Some((Row::NAME.to_owned(), columns.collect()))
    }

    fn columns<Row: Table>(&self, rows: &[Row]) -> Option<Vec<(String, Vec<Value>)>> {
        if rows.is_empty() {
            return None;
        }
        let columns = Row::columns().into_iter().filter_map(|column| {
            let values = match &column.values {
                Values::Derived => return None,
                Values::Counts(value) => self.each(rows, value),
                Values::Indices(value) => self.each(rows, value),
                Values::Flags(value) => self.each(rows, value),
                Values::Numbers(value) => self.each(rows, value),
                Values::Names(value) => self.each(rows, value),
            };
            Some((column.name, values))
        });
        Some(columns.collect())
    }

    fn each<Row, T: Into<Value>>(&self, rows: &[Row], value: &dyn Fn(&At<Row>) -> T) -> Vec<Value> {
        let at = |(index, row)| At { config: self.config, measured_s: self.measured_s, index, row };
        rows.iter().enumerate().map(|row| value(&at(row)).into()).collect()
    }
}
