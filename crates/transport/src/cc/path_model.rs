//! Parts of a path model that both versions of BBR have: the count of round trips, and the search for a full
//! pipe.

/// Round trips counted by deliveries (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.1.3;
/// draft-ietf-ccwg-bbr-06, section 5.5.1): one ends when a segment is delivered that was sent after the end
/// of the previous one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    /// Number of round trips so far.
    pub count: u64,
    /// Whether the last acknowledgement began a round trip.
    pub started: bool,
    /// Number of bytes delivered at the start of the current round trip.
    end: u64,
}

impl RoundTrips {
    /// Processes a delivery, after which `delivered` bytes are delivered in all. `prior_delivered` of them
    /// were delivered when the newest delivered segment was sent.
    pub fn on_delivered(&mut self, prior_delivered: u64, delivered: u64) {
        self.started = prior_delivered >= self.end;
        if self.started {
            self.end = delivered;
            self.count += 1;
        }
    }

    /// Starts a round trip at this number of delivered bytes, without counting it.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// Whether the pipe is full (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.2.2;
/// draft-ietf-ccwg-bbr-06, section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub filled: bool,
    /// Bandwidth when it last grew by a quarter.
    bandwidth: f64,
    /// Number of round trips since.
    rounds: u32,
}

impl FullPipe {
    /// A new search, which compares with this bandwidth.
    pub fn above(bandwidth: f64) -> FullPipe {
        FullPipe { bandwidth, ..FullPipe::default() }
    }

    /// Compares the bandwidth with the next one alone.
    pub fn restart(&mut self) {
        (self.bandwidth, self.rounds) = (0.0, 0);
    }

    /// Processes the end of a round trip that was not application-limited, at this bandwidth.
    pub fn on_round(&mut self, bandwidth: f64) {
        if self.filled {
            return;
        }
        if bandwidth >= 1.25 * self.bandwidth {
            (self.bandwidth, self.rounds) = (bandwidth, 0);
            return;
        }
        self.rounds += 1;
        self.filled = self.rounds >= 3;
    }
}
