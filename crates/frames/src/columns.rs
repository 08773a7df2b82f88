//! Rows of tables, held by column.

use crate::layout::{TABLES, Table, Type};

/// Values of a column.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Values {
    /// Places in an enumeration, and flags.
    U8(Vec<u8>),
    /// Indices, sizes and counts.
    I32(Vec<i32>),
    /// Times, rates and numbers of packets.
    I64(Vec<i64>),
}

/// Runs an expression with the vector of a column, whatever its type.
macro_rules! with_vector {
    ($values:expr, $vector:ident => $made:expr) => {
        match $values {
            Values::U8($vector) => $made,
            Values::I32($vector) => $made,
            Values::I64($vector) => $made,
        }
    };
}

impl Values {
    /// Creates an empty column.
    pub const fn new(of: Type) -> Values {
        match of {
            Type::U8 => Values::U8(Vec::new()),
            Type::I32 => Values::I32(Vec::new()),
            Type::I64 => Values::I64(Vec::new()),
        }
    }

    /// Appends a value, which the type of the column can hold.
    #[inline]
    pub fn push(&mut self, value: i64) {
        match self {
            Values::U8(values) => values.push(value as u8),
            Values::I32(values) => values.push(value as i32),
            Values::I64(values) => values.push(value),
        }
    }

    /// Returns the value of a row.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn get(&self, row: usize) -> i64 {
        match self {
            Values::U8(values) => values[row].into(),
            Values::I32(values) => values[row].into(),
            Values::I64(values) => values[row],
        }
    }

    /// Iterates over all values.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        with_vector!(self, values => values.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that the rows take in memory.
    fn bytes(&self) -> usize {
        with_vector!(self, values => size_of_val(values.as_slice()))
    }

    /// Removes all rows and keeps the memory.
    fn clear(&mut self) {
        with_vector!(self, values => values.clear());
    }

    /// Appends the rows of a column of the same type.
    fn append(&mut self, other: &Values) {
        match (self, other) {
            (Values::U8(values), Values::U8(more)) => values.extend_from_slice(more),
            (Values::I32(values), Values::I32(more)) => values.extend_from_slice(more),
            (Values::I64(values), Values::I64(more)) => values.extend_from_slice(more),
            _ => unreachable!("a column has one type"),
        }
    }

    /// Keeps the marked rows.
    #[cfg(feature = "files")]
    pub(crate) fn keep(&mut self, kept: &[bool]) {
        with_vector!(self, values => {
            let mut marks = kept.iter();
            values.retain(|_| *marks.next().expect("every row is marked"));
        });
    }
}

/// Rows of every table, each a list of columns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tables([Vec<Values>; TABLES.len()]);

impl Default for Tables {
    fn default() -> Tables {
        Tables(TABLES.map(|(table, _)| table.columns().iter().map(|column| Values::new(column.of)).collect()))
    }
}

impl Tables {
    /// Returns the columns of a table in the order of its layout.
    pub fn columns(&self, table: Table) -> &[Values] {
        &self.0[table as usize]
    }

    /// Returns the columns of a table in the order of its layout, to be changed.
    pub fn columns_mut(&mut self, table: Table) -> &mut Vec<Values> {
        &mut self.0[table as usize]
    }

    /// Returns a column by name.
    ///
    /// # Panics
    /// If the table has no column of this name.
    pub fn column(&self, table: Table, name: &str) -> &Values {
        let index = table.columns().iter().position(|column| column.name == name);
        &self.0[table as usize][index.unwrap_or_else(|| panic!("{} has no column {name}", table.name()))]
    }

    /// Number of rows of a table.
    pub fn rows(&self, table: Table) -> usize {
        self.0[table as usize][0].len()
    }

    /// Appends a row, with a value for each column.
    #[inline]
    pub fn push<const N: usize>(&mut self, table: Table, row: [i64; N]) {
        let columns = &mut self.0[table as usize];
        debug_assert_eq!(columns.len(), N, "{} has other columns", table.name());
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }

    /// Appends all rows of other tables.
    pub fn append(&mut self, other: &Tables) {
        let columns = self.0.iter_mut().flatten();
        columns.zip(other.0.iter().flatten()).for_each(|(column, more)| column.append(more));
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.0.iter_mut().flatten().for_each(Values::clear);
    }

    /// Bytes that all rows take in memory.
    pub fn bytes(&self) -> usize {
        self.0.iter().flatten().map(Values::bytes).sum()
    }
}
