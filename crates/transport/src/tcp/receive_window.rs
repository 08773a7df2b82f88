//! Receive window: the whole buffer, or a buffer that follows the rate at which the application reads, as in
//! Linux (`net/ipv4/tcp_input.c`; Fisk and Feng, *Dynamic Right-Sizing in TCP*, 2001).

use crate::TcpOptions;
use multihop_core::{Segment, Span, Time};

/// Window in bytes before data arrives, rounded down to full segments: half of the first buffer
/// (`tcp_rmem` of 128 KiB) as a SYN-ACK can advertise it, which has no window scale.
const FIRST_WINDOW: u64 = 65_535;

/// Payload in bytes that fits into the first buffer: five eighths of it, for full segments.
const FIRST_BUFFER: u64 = 81_920;

/// Number of segments that the application is taken to read in a round trip before it was measured
/// (`TCP_INIT_CWND`).
const FIRST_READ: u64 = 10;

/// Payload in bytes from which a segment opens the window (`tcp_event_data_recv`).
const LEAST_OPENING: u64 = 128;

/// Receive window of a connection. The application reads data in order at once.
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    mss: u64,
    /// Most payload that the buffer is tuned to.
    most: u64,
    /// State of a buffer that is tuned; none if it always has the most.
    tuning: Option<Tuning>,
}

#[derive(Debug)]
struct Tuning {
    /// Payload that fits into the buffer (`window_clamp`).
    buffer: u64,
    /// Window that is offered, if the buffer has room (`rcv_ssthresh`).
    offer: u64,
    /// End of the window advertised so far, which never moves back.
    edge: u64,
    /// Bytes that the application read in the fastest round trip (`rcvq_space.space`).
    read: u64,
    /// Begin of the present measurement: time and next expected byte.
    since: (Time, u64),
    /// Time that acknowledgements take to the sender, as the handshake showed it.
    ack_path: Option<Span>,
    /// Estimate of the round-trip time (`rcv_rtt_est`).
    round_trip: Option<Span>,
}

impl ReceiveWindow {
    pub fn new(options: &TcpOptions) -> ReceiveWindow {
        let (mss, most) = (options.mss(), options.receive_window());
        let tuning = Tuning {
            buffer: FIRST_BUFFER.max(mss).min(most),
            offer: (FIRST_WINDOW / mss * mss).max(mss).min(most),
            edge: 0,
            read: FIRST_READ * mss,
            since: (Time::ZERO, 0),
            ack_path: None,
            round_trip: None,
        };
        ReceiveWindow { mss, most, tuning: options.tuned_window.then_some(tuning) }
    }

    /// Window to advertise with the next expected byte, while `beyond` bytes beyond a gap fill the buffer.
    pub fn advertised(&mut self, next: u64, beyond: u64) -> u64 {
        let Some(tuning) = &mut self.tuning else { return self.most };
        let window = tuning.offer.min(tuning.buffer.saturating_sub(beyond));
        tuning.edge = tuning.edge.max(next + window);
        tuning.edge - next
    }

    /// Processes data that has arrived. The buffer now has `held` bytes, and `handshake` is the round trip of
    /// the SYN-ACK, if it was measured. Returns whether the window opens, which the sender is told at once
    /// (`tcp_grow_window`).
    pub fn on_data(&mut self, now: Time, segment: &Segment, handshake: Option<Span>, held: u64) -> bool {
        let Some(tuning) = &mut self.tuning else { return false };
        let payload = u64::from(segment.payload);
        match segment.echo {
            // A shorter segment may have waited for the application.
            Some(sent) if payload >= self.mss => tuning.sample(now.since(sent), handshake),
            Some(_) => {}
            None => tuning.round_trip = handshake,
        }
        let room = tuning.buffer.saturating_sub(tuning.offer + held);
        if room == 0 || payload < LEAST_OPENING {
            return false;
        }
        tuning.offer += room.min(2 * payload.max(self.mss));
        true
    }

    /// Adapts the buffer after the application has read up to the next expected byte, once in a round trip
    /// (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`). `last` is the end of the data beyond a gap, if there is
    /// any.
    pub fn on_read(&mut self, now: Time, next: u64, last: Option<u64>) {
        let Some(tuning) = &mut self.tuning else { return };
        let (began, from) = tuning.since;
        if tuning.round_trip.is_none_or(|round_trip| now.since(began) < round_trip) {
            return;
        }
        tuning.since = (now, next);
        let (read, before) = (next - from, tuning.read);
        if read <= before {
            return;
        }
        tuning.read = read;
        // Twice what was read, as the measurement is a round trip late, and more for a sender that doubles
        // its rate.
        let window = 2 * read + 4 * read * (read - before) / before;
        let beyond = last.map_or(0, |end| end.saturating_sub(next));
        tuning.buffer = tuning.buffer.max((window + beyond).min(self.most));
    }
}

impl Tuning {
    /// Processes a round trip: the time that a segment took and that of the acknowledgement before it. Linux
    /// has the sum from timestamps of both directions. A shorter one counts at once, a longer one by an
    /// eighth (`tcp_rcv_rtt_update`).
    fn sample(&mut self, one_way: Span, handshake: Option<Span>) {
        let back = || handshake.map_or(one_way, |round_trip| round_trip.saturating_sub(one_way));
        let sample = one_way + *self.ack_path.get_or_insert_with(back);
        self.round_trip = Some(match self.round_trip {
            Some(before) if sample > before => before + (sample - before) / 8,
            _ => sample,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flavour, Recovery};

    const MSS: u64 = 1_448;

    fn window(segments: u32) -> ReceiveWindow {
        let options = TcpOptions::of(Flavour::Linux, Recovery::Rack);
        ReceiveWindow::new(&TcpOptions { window: segments, ..options })
    }

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// Full segments in order that took 20 ms: the receiver reads each at once.
    struct Reader {
        window: ReceiveWindow,
        next: u64,
    }

    impl Reader {
        fn new(window: ReceiveWindow) -> Reader {
            Reader { window, next: 0 }
        }

        /// Receives segments at one instant; returns how many opened the window.
        fn reads(&mut self, ms: u64, segments: u64) -> usize {
            let echo = Some(Time::from_ns(at(ms).ns().saturating_sub(20_000_000)));
            let segment = Segment { payload: MSS as u32, echo, ..Segment::default() };
            let handshake = Some(Span::from_ms(40));
            let opens = |_: &u64| {
                let opens = self.window.on_data(at(ms), &segment, handshake, MSS);
                self.next += MSS;
                self.window.on_read(at(ms), self.next, None);
                opens
            };
            (0..segments).filter(opens).count()
        }

        fn advertised(&mut self) -> u64 {
            self.window.advertised(self.next, 0) / MSS
        }
    }

    /// 45 segments in the SYN-ACK, then up to a buffer of 56.6 segments, one of which has just arrived; two
    /// segments more for each segment.
    #[test]
    fn the_first_window_is_that_of_the_first_buffer() {
        let mut reader = Reader::new(window(16_384));
        assert_eq!(reader.advertised(), 45);
        assert_eq!(reader.reads(60, 3), 3);
        assert_eq!(reader.advertised(), 51);
        assert_eq!(reader.reads(60, 3), 3);
        assert_eq!(reader.reads(60, 3), 0);
        assert_eq!(reader.advertised(), 55);
    }

    /// `tcp_rcvbuf_grow`: twenty segments in a round trip after ten are twice twenty, and twice that again,
    /// as the rate doubled; thirty then 60 + 60; as many again change nothing.
    #[test]
    fn the_buffer_follows_what_is_read_in_a_round_trip() {
        let mut reader = Reader::new(window(16_384));
        reader.reads(60, 1);
        let read_in_a_round_trip = |reader: &mut Reader, ms: u64, segments: u64| {
            reader.reads(ms, segments - 1);
            reader.reads(ms + 40, 1);
            reader.window.tuning.as_ref().unwrap().buffer / MSS
        };
        assert_eq!(read_in_a_round_trip(&mut reader, 60, 20), 120);
        assert_eq!(read_in_a_round_trip(&mut reader, 110, 30), 120);
        assert_eq!(read_in_a_round_trip(&mut reader, 160, 45), 180);
        assert_eq!(read_in_a_round_trip(&mut reader, 210, 45), 180);
    }

    #[test]
    fn the_buffer_has_a_limit() {
        let mut reader = Reader::new(window(50));
        for ms in (60..1_000).step_by(40) {
            reader.reads(ms, 2 * ms);
        }
        assert_eq!(reader.advertised(), 49, "one has just arrived");
        assert_eq!(Reader::new(window(4)).advertised(), 4);
    }

    /// Data beyond a gap takes room, but the end of the window stays.
    #[test]
    fn the_end_of_the_window_does_not_move_back() {
        let mut window = window(16_384);
        assert_eq!(window.advertised(0, 0), 45 * MSS);
        assert_eq!(window.advertised(MSS, 50 * MSS), 44 * MSS);
        assert_eq!(window.advertised(MSS, 0), 45 * MSS);
    }

    /// Data beyond a gap counts with the buffer that it needs.
    #[test]
    fn a_filled_gap_is_read_at_once() {
        let mut reader = Reader::new(window(16_384));
        reader.reads(60, 1);
        reader.next += 99 * MSS;
        reader.window.on_read(at(120), reader.next, Some(reader.next + 50 * MSS));
        let buffer = reader.window.tuning.as_ref().unwrap().buffer;
        assert_eq!(buffer / MSS, 2 * 99 + 4 * 99 * 89 / 10 + 50);
    }

    /// `tcp_rcv_rtt_update`: down at once, up by an eighth.
    #[test]
    fn round_trips_are_sampled_from_timestamps() {
        let mut window = window(16_384);
        let mut sample = |one_way: u64, payload: u64| {
            let segment =
                Segment { payload: payload as u32, echo: Some(at(100 - one_way)), ..Segment::default() };
            window.on_data(at(100), &segment, Some(Span::from_ms(50)), 0);
            window.tuning.as_ref().unwrap().round_trip.unwrap().ns() / 1_000_000
        };
        assert_eq!(sample(20, MSS), 50, "the handshake's round trip");
        assert_eq!(sample(60, MSS), 55);
        assert_eq!(sample(60, 100), 55, "a segment that is not full");
        assert_eq!(sample(10, MSS), 40);
    }

    #[test]
    fn a_window_that_is_not_tuned_is_the_whole_buffer() {
        let mut window = ReceiveWindow::new(&TcpOptions::default());
        let segment = Segment { payload: 1_460, ..Segment::default() };
        assert!(!window.on_data(at(1), &segment, None, 0));
        window.on_read(at(1), 1_460, None);
        assert_eq!(window.advertised(1_460, 5_000), 1_024 * 1_460);
    }
}
