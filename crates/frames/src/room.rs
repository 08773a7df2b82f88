//! How much a log may unpack to: one that would fill the memory from a few bytes was made by no writer.

/// Bytes of streams that any log may unpack to, and how many more for each byte of its file. Streams of a
/// saturated network with aggregates unpack to some hundred bytes for each byte.
const BYTES: usize = 1 << 28;
const BYTES_OF_BYTE: usize = 1_000;
/// The same of rows. A block of transmissions that are all as expected has 160 rows for each byte.
const ROWS: usize = 1 << 20;
const ROWS_OF_BYTE: usize = 500;

/// What is left of that.
#[derive(Debug)]
pub struct Room {
    bytes: usize,
    rows: usize,
    is_spent: bool,
}

impl Room {
    /// For a file of so many bytes.
    pub fn of(file: usize) -> Room {
        let scaled = |least: usize, of_byte: usize| least.saturating_add(file.saturating_mul(of_byte));
        Room { bytes: scaled(BYTES, BYTES_OF_BYTE), rows: scaled(ROWS, ROWS_OF_BYTE), is_spent: false }
    }

    /// Takes so many bytes of a stream; none if they are not left.
    pub fn take_bytes(&mut self, bytes: usize) -> Option<()> {
        let left = self.bytes.checked_sub(bytes);
        self.is_spent |= left.is_none();
        self.bytes = left?;
        Some(())
    }

    /// Takes so many rows; none if they are not left.
    pub fn take_rows(&mut self, rows: usize) -> Option<()> {
        let left = self.rows.checked_sub(rows);
        self.is_spent |= left.is_none();
        self.rows = left?;
        Some(())
    }

    /// Whether more was wanted than was left.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_not_left() {
        let mut room = Room::of(0);
        assert!(room.take_rows(ROWS).is_some() && room.take_bytes(BYTES).is_some() && !room.is_spent());
        assert!(room.take_rows(1).is_none() && room.is_spent());
        assert!(Room::of(1).take_rows(ROWS + ROWS_OF_BYTE).is_some());
        assert!(Room::of(usize::MAX).take_bytes(usize::MAX).is_some());
    }
}
