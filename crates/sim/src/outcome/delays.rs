//! Distributions of delay.

use super::table::{Cell, Column, Table, Values, table};

table! {
    /// Data packets of a flow whose delay lies in one bin.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    DelayRow, "delays", "a row per flow and bin of one-way delay in which packets arrived":

    /// index of the flow
    flow("1"): u32;
    /// name of the flow
    derived name("");
    /// upper edge of the bin, inclusive; a bin extends at most 3 % below its edge, and the first, of 100 ns,
    /// to zero
    delay_s("s"): f64;
    /// data packets that reached the other end with a delay in the bin
    packets("packets"): u64;
}

/// Number of bins per decade. Edges have three digits, as those of the E96 series of IEC 60063.
const BINS: u32 = 96;

/// Upper edges of all bins in nanoseconds, ascending.
fn edges() -> impl Iterator<Item = u64> {
    let digits = |bin: u32| 10_f64.powf(2.0 + f64::from(bin) / f64::from(BINS)).round() as u64;
    (0_u32..).flat_map(move |decade| {
        let scale = 10_u64.saturating_pow(decade);
        (0..BINS).map(move |bin| digits(bin).saturating_mul(scale))
    })
}

/// Non-empty bins of a flow's delays, which are given in nanoseconds and ascending.
pub fn delay_rows(flow: u32, sorted: &[u64]) -> Vec<DelayRow> {
    let mut rows = Vec::new();
    let mut left = sorted;
    let mut edges = edges();
    while let Some(edge) = edges.next().filter(|_| !left.is_empty()) {
        let packets = left.partition_point(|delay| *delay <= edge);
        if packets > 0 {
            // Divided, not multiplied, so that the edge prints with three digits.
            rows.push(DelayRow { flow, delay_s: edge as f64 / 1e9, packets: packets as u64 });
        }
        left = &left[packets..];
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_at_most_three_percent_wide() {
        let edges: Vec<u64> = edges().take_while(|edge| *edge < 1_000_000_000_000_000).collect();
        assert_eq!((edges[0], edges[1], edges[96]), (100, 102, 1_000));
        for pair in edges.windows(2) {
            let width = (pair[1] - pair[0]) as f64 / pair[1] as f64;
            assert!(width > 0.0 && width <= 0.03, "{pair:?}");
        }
    }

    #[test]
    fn each_packet_is_in_the_bin_at_whose_edge_or_below_its_delay_is() {
        let sorted = [0, 100, 101, 102, 103, 1_000_000, 1_000_001, u64::MAX];
        let rows: Vec<(f64, u64)> =
            delay_rows(3, &sorted).into_iter().map(|row| (row.delay_s, row.packets)).collect();
        let expected = [(1e-7, 2), (1.02e-7, 2), (1.05e-7, 1), (1e-3, 1), (1.02e-3, 1)];
        assert_eq!(rows[..5], expected);
        assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), sorted.len() as u64);
        assert!(delay_rows(0, &[]).is_empty());
    }
}
