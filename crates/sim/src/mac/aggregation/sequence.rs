//! Sequence numbers modulo 4096 (802.11-2016, 9.2.4.4.2).

/// Number of sequence numbers.
const NUMBERS: u16 = 4096;

/// Distance up to which a sequence number ahead is new; beyond it the number is old (10.24.7.6).
pub(super) const HALF: u16 = NUMBERS / 2;

/// Sequence number some steps after another one.
pub(super) fn after(number: u16, steps: usize) -> u16 {
    ((usize::from(number) + steps) % usize::from(NUMBERS)) as u16
}

/// Distance from the sequence number `of` up to `number`, modulo 4096.
pub(super) fn ahead(of: u16, number: u16) -> u16 {
    (number + NUMBERS - of) % NUMBERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap() {
        assert_eq!((after(4095, 1), after(4000, 256), ahead(4090, 5), ahead(5, 4090)), (0, 160, 11, 4085));
        assert_eq!(ahead(7, 7), 0);
    }
}
