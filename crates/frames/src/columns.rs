//! Rows of tables, stored by column.

use crate::layout::{TABLES, Table, Type};

/// Values of a column.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Values {
    /// Codes of an enumeration, and flags.
    U8(Vec<u8>),
    /// Indices, sizes and counts.
    I32(Vec<i32>),
    /// Times, rates and packet numbers.
    I64(Vec<i64>),
}

/// Evaluates an expression with the vector of a column of any type.
macro_rules! with_vector {
    ($values:expr, $vector:ident => $result:expr) => {
        match $values {
            Values::U8($vector) => $result,
            Values::I32($vector) => $result,
            Values::I64($vector) => $result,
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

    /// Appends a value, which must be in the range of the column's type.
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
    /// If the row does not exist.
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

    /// Whether the column is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of the rows in memory, in bytes.
    fn bytes(&self) -> usize {
        with_vector!(self, values => size_of_val(values.as_slice()))
    }

    /// Removes all rows; the allocated memory is reused.
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

    /// Removes the rows that are not marked.
    #[cfg(feature = "files")]
    pub(crate) fn retain(&mut self, marks: &[bool]) {
        with_vector!(self, values => {
            let mut marks = marks.iter();
            values.retain(|_| *marks.next().expect("every row is marked"));
        });
    }
}

/// Columns of every table.
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

    /// Returns the columns of a table in the order of its layout, for modification.
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

    /// Appends a row with one value for each column.
    #[inline]
    pub fn push<const N: usize>(&mut self, table: Table, row: [i64; N]) {
        let columns = &mut self.0[table as usize];
        debug_assert_eq!(columns.len(), N, "the row has a value for each column of {}", table.name());
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }

    /// Appends all rows of other tables.
    pub fn append(&mut self, other: &Tables) {
        let columns = self.0.iter_mut().flatten();
        columns.zip(other.0.iter().flatten()).for_each(|(column, more)| column.append(more));
    }

    /// Removes all rows; the allocated memory is reused.
    pub fn clear(&mut self) {
        self.0.iter_mut().flatten().for_each(Values::clear);
    }

    /// Size of all rows in memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.0.iter().flatten().map(Values::bytes).sum()
    }
}
