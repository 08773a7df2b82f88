//! Sequence numbers, which count modulo 4096 (802.11-2016, 9.2.4.4.2).

/// How many there are.
const NUMBERS: u16 = 4096;

/// What lies no more than this ahead is new, the rest old (10.24.7.6).
pub(super) const HALF: u16 = NUMBERS / 2;

/// The number that lies so far behind another one in the order of sending.
pub(super) fn after(number: u16, steps: usize) -> u16 {
    ((usize::from(number) + steps) % usize::from(NUMBERS)) as u16
}

/// How far a number lies ahead of another one.
pub(super) fn ahead(of: u16, number: u16) -> u16 {
    (number + NUMBERS - of) % NUMBERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        assert_eq!((after(4095, 1), after(4000, 256), ahead(4090, 5), ahead(5, 4090)), (0, 160, 11, 4085));
        assert_eq!(ahead(7, 7), 0);
    }
}
