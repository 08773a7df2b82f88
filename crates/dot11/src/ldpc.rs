//! Number of symbols that low-density parity check codes take (802.11-2016, 19.3.11.7.5).

/// Payload to be encoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codewords {
    /// Number of payload bits.
    pub payload: u64,
    /// Number of coded bits in the symbols that the payload would take without code words.
    pub available: u64,
    /// Code rate as numerator and denominator.
    pub code: (u64, u64),
}

/// Whether so many bits would be punctured that the PPDU takes an extra symbol (or block of symbols).
///
/// Equations 19-37 to 19-41, with all fractions multiplied out.
pub(crate) fn needs_extra_symbol(Codewords { payload, available, code: (k, n) }: Codewords) -> bool {
    let (words, length) = code_words(payload, available, k, n);
    let coded = words * length;
    // R and 1 - R of all code words.
    let information = coded * k / n;
    let parity = coded - information;
    let shortened = information.saturating_sub(payload);
    let punctured = coded.saturating_sub(available + shortened);
    // Shortened < 1.2 * punctured * R / (1 - R).
    let little_shortened = 10 * shortened * (n - k) < 12 * punctured * k;
    (10 * punctured > parity && little_shortened) || 10 * punctured > 3 * parity
}

/// Number and length of the code words (table 19-16).
fn code_words(payload: u64, available: u64, k: u64, n: u64) -> (u64, u64) {
    // Whether the available bits exceed the payload by `bits * (1 - R)`.
    let has_room = |bits: u64| available * n >= payload * n + bits * (n - k);
    match available {
        ..=648 => (1, if has_room(912) { 1_296 } else { 648 }),
        649..=1_296 => (1, if has_room(1_464) { 1_944 } else { 1_296 }),
        1_297..=1_944 => (1, 1_944),
        1_945..=2_592 => (2, if has_room(2_916) { 1_944 } else { 1_296 }),
        _ => ((payload * n).div_ceil(1_944 * k), 1_944),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MCS 7 at 20 MHz: 312 coded bits a symbol, 260 of them data.
    fn at_mcs_7(bytes: u64) -> Codewords {
        let payload = 16 + 8 * bytes;
        Codewords { payload, available: payload.div_ceil(260) * 312, code: (5, 6) }
    }

    /// 14 bytes: 128 bits, one word of 648 whose 540 information bits are shortened by 412; 648 - 412 = 236
    /// bits fit into 312.
    /// 65 bytes: 536 bits in 3 symbols, 936 bits: one word of 1296, 1080 - 536 = 544 shortened, 752 bits fit.
    /// 1500 bytes: 12016 bits, 47 symbols, 14664 bits; 8 words of 1944, 12960 - 12016 = 944 shortened, 14608
    /// bits fit.
    #[test]
    fn words_that_fit_need_no_more() {
        for bytes in [14, 65, 1500] {
            assert!(!needs_extra_symbol(at_mcs_7(bytes)), "{bytes} bytes");
        }
    }

    /// 1616 bytes: 12944 bits, 50 symbols, 15600 bits; 8 words of 1944 are 15552 bits and fit.
    /// 1619 bytes: 12968 bits, 50 symbols, 15600 bits; 9 words are 17496, shortened by 1612: 284 bits are
    /// punctured, 9.7 % of the parity of 2916, which is allowed.
    /// 1622 bytes: 12992 bits, 1588 shortened, 308 punctured: 10.6 %, and 1588 is below 1.2 * 308 * 5 = 1848,
    /// so that one more symbol is sent.
    #[test]
    fn punctured_words_take_another_symbol() {
        assert!(!needs_extra_symbol(at_mcs_7(1616)));
        assert!(!needs_extra_symbol(at_mcs_7(1619)));
        assert!(needs_extra_symbol(at_mcs_7(1622)));
    }

    /// Table 19-16 at a rate of 5/6, at both sides of each bound.
    #[test]
    fn words_are_as_long_as_the_table_says() {
        for (payload, available, expected) in [
            (496, 648, (1, 1_296)), // 6 * 648 = 6 * 496 + 912
            (497, 648, (1, 648)),
            (1_052, 1_296, (1, 1_944)), // 6 * 1296 = 6 * 1052 + 1464
            (1_053, 1_296, (1, 1_296)),
            (1_600, 1_944, (1, 1_944)),
            (1_621, 1_297, (1, 1_944)), // one word, whatever the payload
            (1_621, 1_944, (1, 1_944)),
            (2_106, 2_592, (2, 1_944)), // 6 * 2592 = 6 * 2106 + 2916
            (2_107, 2_592, (2, 1_296)),
            (3_240, 2_593, (2, 1_944)), // 2 * 1944 * 5 / 6
            (3_241, 2_593, (3, 1_944)),
        ] {
            assert_eq!(code_words(payload, available, 5, 6), expected, "{payload} bits in {available}");
        }
    }

    /// Equation 19-41 has strict inequalities. Five words of 1944 bits at 5/6 have 1620 bits of parity, of
    /// which a tenth may be punctured. One word of 648 at 1/2, shortened by 42 = 1.2 * 35 bits, may have 35
    /// punctured, though they are more than a tenth of 324.
    #[test]
    fn what_may_just_be_left_out() {
        let needs = |payload, available, code| needs_extra_symbol(Codewords { payload, available, code });
        assert!(!needs(8_100, 9_720 - 162, (5, 6)));
        assert!(needs(8_100, 9_720 - 163, (5, 6)));
        assert!(!needs(324 - 42, 648 - 42 - 35, (1, 2)));
        assert!(needs(324 - 42, 648 - 42 - 36, (1, 2)));
    }
}
