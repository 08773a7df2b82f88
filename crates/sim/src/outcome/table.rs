//! Tables of results: every column is declared once, here or beside the row it is read off, with its unit and
//! its meaning.

use crate::config::Config;

/// A kind of row, and the columns that are read off it.
pub trait Table: Sized + 'static {
    /// The name of the table.
    const NAME: &'static str;
    /// What a row is.
    const ROW: &'static str;

    /// The columns, in the order of the results.
    fn columns() -> Vec<Column<Self>>;
}

/// A column of a table of `Row`s.
pub struct Column<Row> {
    /// Its name; a unit comes last.
    pub name: String,
    /// Its unit: `1` for counts and shares, empty for names.
    pub unit: &'static str,
    /// What it means.
    pub meaning: String,
    /// Its values.
    pub values: Values<Row>,
}

/// A row, and what it is a row of.
pub struct At<'a, Row> {
    /// The run.
    pub config: &'a Config,
    /// Seconds that results cover.
    pub measured_s: f64,
    /// Number of the row.
    pub index: usize,
    /// The row.
    pub row: &'a Row,
}

/// A value of each row, by type.
pub enum Values<Row> {
    /// Python makes them from other columns.
    Derived,
    /// Counts.
    Counts(Value<Row, u64>),
    /// Indices.
    Indices(Value<Row, u32>),
    /// 0 or 1.
    Flags(Value<Row, u8>),
    /// Numbers; NaN where there is none.
    Numbers(Value<Row, f64>),
    /// Names.
    Names(Value<Row, String>),
}

/// The value of a row.
pub type Value<Row, T> = Box<dyn Fn(&At<Row>) -> T>;

/// A type of values.
pub trait Cell: Sized {
    /// Values of this type.
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
    /// A column.
    pub fn new(
        name: impl Into<String>,
        unit: &'static str,
        meaning: impl Into<String>,
        values: Values<Row>,
    ) -> Self {
        Column { name: name.into(), unit, meaning: meaning.into(), values }
    }

    /// The numbers of a part that some rows have.
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

/// What a table is, without its rows.
pub struct Description {
    /// The name by which results and files know the table.
    pub name: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Name, unit and meaning of each column.
    pub columns: Vec<(String, &'static str, String)>,
}

impl Description {
    /// That of a kind of rows.
    pub(super) fn of<Row: Table>() -> Description {
        let columns = Row::columns();
        let columns = columns.into_iter().map(|column| (column.name, column.unit, column.meaning)).collect();
        Description { name: Row::NAME, row: Row::ROW, columns }
    }
}

/// A table: the struct of its rows, and its columns in order. The documentation of a column is its meaning in
/// the results.
///
/// | entry | what it makes |
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
