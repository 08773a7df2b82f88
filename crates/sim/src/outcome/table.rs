//! Tables of results. Every column is declared once, next to the row that it shows, with its unit and its
//! meaning.

use crate::config::Config;

/// Table of results with one type of row.
pub trait Table: Sized + 'static {
    /// Name of the table.
    const NAME: &'static str;
    /// Description of a row.
    const ROW: &'static str;

    /// Columns, in the order of the results.
    fn columns() -> Vec<Column<Self>>;
}

/// Column of a table of `Row`s.
pub struct Column<Row> {
    /// Name of the column, with the unit as its suffix.
    pub name: String,
    /// Unit of the values: `1` for counts and shares, empty for names.
    pub unit: &'static str,
    /// Meaning of the column.
    pub meaning: String,
    /// Values of the column.
    pub values: Values<Row>,
}

/// Row of a table, with its context.
pub struct At<'a, Row> {
    /// Configuration of the run.
    pub config: &'a Config,
    /// Seconds that results cover.
    pub measured_s: f64,
    /// Number of the row in its table.
    pub index: usize,
    /// Row itself.
    pub row: &'a Row,
}

/// Functions from a row to a value, by type of value.
pub enum Values<Row> {
    /// Values that Python computes from other columns.
    Derived,
    /// Counts.
    Counts(Value<Row, u64>),
    /// Indices.
    Indices(Value<Row, u32>),
    /// Flags, 0 or 1.
    Flags(Value<Row, u8>),
    /// Numbers; NaN where there is none.
    Numbers(Value<Row, f64>),
    /// Names.
    Names(Value<Row, String>),
}

/// Function from a row to a value.
pub type Value<Row, T> = Box<dyn Fn(&At<Row>) -> T>;

/// Type of a field that a column can show.
pub trait Cell: Sized {
    /// Converts a function to values of the matching kind.
    fn values<Row>(value: impl Fn(&At<Row>) -> Self + 'static) -> Values<Row>;
}

macro_rules! cells {
    ($($kind:ty => $variant:ident($value:ident: $made:expr);)*) => {
        $(impl Cell for $kind {
            fn values<Row>(value: impl Fn(&At<Row>) -> Self + 'static) -> Values<Row> {
                Values::$variant(Box::new(move |at| {
                    let $value = value(at);
                    $made
                }))
            }
        })*
    };
}

cells! {
    u64 => Counts(value: value);
    u32 => Indices(value: value);
    bool => Flags(value: u8::from(value));
    f64 => Numbers(value: value);
    Option<f64> => Numbers(value: value.unwrap_or(f64::NAN));
    Option<u64> => Numbers(value: value.map_or(f64::NAN, |value| value as f64));
    String => Names(value: value);
}

impl<Row> Column<Row> {
    /// Creates a column.
    pub fn new(
        name: impl Into<String>,
        unit: &'static str,
        meaning: impl Into<String>,
        values: Values<Row>,
    ) -> Self {
        Column { name: name.into(), unit, meaning: meaning.into(), values }
    }

    /// Converts a column of a part, which only some rows have, into a column of rows.
    pub(super) fn of_part<Part: 'static>(part: Column<Part>, of: fn(&Row) -> Option<&Part>) -> Self
    where
        Row: 'static,
    {
        let read: Value<Part, f64> = match part.values {
            Values::Counts(value) => Box::new(move |at| value(at) as f64),
            Values::Numbers(value) => value,
            _ => unreachable!("a part has counts and numbers"),
        };
        let value = move |at: &At<Row>| {
            let At { config, measured_s, index, row } = *at;
            of(row).map(|row| read(&At { config, measured_s, index, row }))
        };
        Column { name: part.name, unit: part.unit, meaning: part.meaning, values: Cell::values(value) }
    }
}

/// Description of a table, without its rows.
pub struct Description {
    /// Name of the table in results and files.
    pub name: &'static str,
    /// Description of a row.
    pub row: &'static str,
    /// Name, unit and meaning of each column.
    pub columns: Vec<(String, &'static str, String)>,
}

impl Description {
    /// Description of the table with this type of row.
    pub(super) fn of<Row: Table>() -> Description {
        let columns = Row::columns();
        let columns = columns.into_iter().map(|column| (column.name, column.unit, column.meaning)).collect();
        Description { name: Row::NAME, row: Row::ROW, columns }
    }
}

/// Declares a table: the struct of its rows, and its columns in order. The doc comment of a column is its
/// meaning in the results.
///
/// | entry | result |
/// |---|---|
/// | `name(unit): type;` | a field of the struct and a column |
/// | `column name(unit): type = value;` | a column; the value is made of the row, `At` |
/// | `derived name(unit);` | a column that Python makes from others |
/// | `name: type;` | a field |
/// | `..columns;` | more columns |
macro_rules! table {
    ($(#[$about:meta])* $row:ident, $name:literal, $what:literal: $($entries:tt)*) => {
        table! { @ [$(#[$about])*] $row $name $what [] [] $($entries)* }
    };
    (@ [$($about:tt)*] $row:ident $name:literal $what:literal [$($fields:tt)*] [$($columns:expr,)*]) => {
        $($about)*
        pub struct $row { $($fields)* }

        impl Table for $row {
            const NAME: &'static str = $name;
            const ROW: &'static str = $what;

            fn columns() -> Vec<Column<Self>> {
                let mut made = Vec::new();
                $(made.extend($columns);)*
                made
            }
        }
    };
    (@ $about:tt $row:ident $name:literal $what:literal [$($fields:tt)*] [$($columns:tt)*] ..$more:expr; $($rest:tt)*) => {
        table! { @ $about $row $name $what [$($fields)*] [$($columns)* $more,] $($rest)* }
    };
    (@ $about:tt $row:ident $name:literal $what:literal [$($fields:tt)*] [$($columns:tt)*]
        $(#[doc = $meaning:literal])+ column $column:ident($unit:literal): $kind:ty = $value:expr; $($rest:tt)*) => {
        table! { @ $about $row $name $what [$($fields)*]
            [$($columns)* [Column::new(
                stringify!($column), $unit, concat!($($meaning),+).trim_start(), <$kind as Cell>::values::<$row>($value),
            )],]
            $($rest)* }
    };
    (@ $about:tt $row:ident $name:literal $what:literal [$($fields:tt)*] [$($columns:tt)*]
        $(#[doc = $meaning:literal])+ derived $column:ident($unit:literal); $($rest:tt)*) => {
        table! { @ $about $row $name $what [$($fields)*]
            [$($columns)* [Column::new(
                stringify!($column), $unit, concat!($($meaning),+).trim_start(), Values::Derived,
            )],]
            $($rest)* }
    };
    (@ $about:tt $row:ident $name:literal $what:literal [$($fields:tt)*] [$($columns:tt)*]
        $(#[doc = $meaning:literal])+ $field:ident($unit:literal): $kind:ty; $($rest:tt)*) => {
        table! { @ $about $row $name $what [$($fields)* $(#[doc = $meaning])+ pub $field: $kind,]
            [$($columns)* [Column::new(
                stringify!($field), $unit, concat!($($meaning),+).trim_start(), <$kind as Cell>::values::<$row>(|at| at.row.$field),
            )],]
            $($rest)* }
    };
    (@ $about:tt $row:ident $name:literal $what:literal [$($fields:tt)*] [$($columns:tt)*]
        $(#[doc = $doc:literal])+ $field:ident: $kind:ty; $($rest:tt)*) => {
        table! { @ $about $row $name $what [$($fields)* $(#[doc = $doc])+ pub $field: $kind,] [$($columns)*] $($rest)* }
    };
}
pub(super) use table;
