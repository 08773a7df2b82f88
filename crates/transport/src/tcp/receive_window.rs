//! Receive window: the whole buffer, or a buffer that follows the rate at which the application reads, as in
//! Linux (`net/ipv4/tcp_input.c`; Fisk and Feng, *Dynamic Right-Sizing in TCP*, 2001).

use crate::TcpOptions;
use multihop_core::{Segment, Time};

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
    /// Estimate of the round-trip time in microseconds (`rcv_rtt_est`).
    round_trip_us: Option<u32>,
    /// Stamp of the last sample.
    sampled: u32,
    /// Without timestamps: end of a window of data, and when it began.
    window_of_data: Option<(u64, Time)>,
}

impl ReceiveWindow {
    pub fn new(options: &TcpOptions) -> ReceiveWindow {
        let (mss, most) = (options.mss(), options.receive_window());
        let offer = (FIRST_WINDOW / mss * mss).max(mss).min(most);
        let tuning = Tuning {
            buffer: FIRST_BUFFER.max(mss).min(most),
            offer,
            edge: offer,
            read: FIRST_READ * mss,
            since: (Time::ZERO, 0),
            round_trip_us: None,
            sampled: 0,
            window_of_data: None,
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

    /// Whether data beyond a gap fills more than half of the buffer. Linux then stops to acknowledge each
    /// segment at once (`__tcp_select_window`).
    pub fn is_crowded(&self, beyond: u64) -> bool {
        self.tuning.as_ref().is_some_and(|tuning| beyond > tuning.buffer / 2)
    }

    /// Stamp of an acknowledgement sent now; 0 where nothing is tuned.
    pub fn stamp(&self, now: Time) -> u32 {
        // 0 stands for no stamp.
        if self.tuning.is_some() { microseconds(now).max(1) } else { 0 }
    }

    /// Processes data that has arrived, after which `next` is the next expected byte and the buffer has
    /// `held` bytes. Returns whether the window opens, which is acknowledged at once (`tcp_grow_window`).
    pub fn on_data(&mut self, now: Time, segment: &Segment, next: u64, held: u64) -> bool {
        let Some(tuning) = &mut self.tuning else { return false };
        let payload = u64::from(segment.payload);
        if segment.echo.is_none() {
            tuning.measure_window(now, next);
        } else if payload >= self.mss {
            // A shorter segment may have waited for the application.
            tuning.sample(now, segment.ack_stamp);
        }
        let room = tuning.buffer.saturating_sub(tuning.offer + held);
        if room == 0 || payload < LEAST_OPENING {
            return false;
        }
        tuning.offer += room.min(2 * payload.max(self.mss));
        true
    }

    /// Enlarges the buffer for data up to `last`, beyond a gap after `next` (`tcp_data_queue_ofo`).
    pub fn on_gap(&mut self, next: u64, last: u64) {
        if let Some(tuning) = &mut self.tuning {
            tuning.enlarge(2 * tuning.read + (last - next), self.most);
        }
    }

    /// Adapts the buffer after the application has read up to the next expected byte, once in a round trip
    /// (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`). `last` is the end of the data beyond a gap, if there is
    /// any.
    pub fn on_read(&mut self, now: Time, next: u64, last: Option<u64>) {
        let Some(tuning) = &mut self.tuning else { return };
        let (began, from) = tuning.since;
        let elapsed = microseconds(now).wrapping_sub(microseconds(began));
        if tuning.round_trip_us.is_none_or(|round_trip| elapsed < round_trip) {
            return;
        }
        tuning.since = (now, next);
        let (read, before) = ((next - from).min(self.most), tuning.read);
        if read <= before {
            return;
        }
        tuning.read = read;
        // Twice what was read, as the measurement is a round trip late, and more for a sender that doubles
        // its rate.
        let window = 2 * read + (4.0 * read as f64 * (read - before) as f64 / before as f64) as u64;
        let beyond = last.map_or(0, |end| end.saturating_sub(next));
        tuning.enlarge(window + beyond, self.most);
    }
}

impl Tuning {
    fn enlarge(&mut self, window: u64, most: u64) {
        self.buffer = self.buffer.max(window.min(most));
    }

    /// Samples the round trip of an acknowledgement with this stamp, which the first data after it returns. A
    /// shorter one counts at once, a longer one by an eighth (`tcp_rcv_rtt_update`).
    fn sample(&mut self, now: Time, stamp: u32) {
        if stamp == 0 || stamp == self.sampled {
            return;
        }
        self.sampled = stamp;
        let sample = microseconds(now).wrapping_sub(stamp).max(1);
        self.round_trip_us = Some(match self.round_trip_us {
            Some(before) if sample > before => before + (sample - before) / 8,
            _ => sample,
        });
    }

    /// Without timestamps, a window of data takes a round trip at least, of which the least counts
    /// (`tcp_rcv_rtt_measure`).
    fn measure_window(&mut self, now: Time, next: u64) {
        if let Some((end, began)) = self.window_of_data {
            if next < end {
                return;
            }
            let took = microseconds(now).wrapping_sub(microseconds(began)).max(1);
            self.round_trip_us = Some(self.round_trip_us.map_or(took, |before| before.min(took)));
        }
        self.window_of_data = Some((next + self.edge.saturating_sub(next), now));
    }
}

/// Clock of stamps, which wraps.
fn microseconds(time: Time) -> u32 {
    (time.ns() / 1_000) as u32
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

    /// Segment that arrives at `ms`, a round trip after the acknowledgement that released it.
    fn after(round_trip_ms: u64, ms: u64, payload: u64) -> Segment {
        let ack_stamp = (1_000 * (ms - round_trip_ms)) as u32;
        Segment { payload: payload as u32, echo: Some(at(ms - 1)), ack_stamp, ..Segment::default() }
    }

    /// Full segments in order, a round trip of 40 ms after the acknowledgement that released them. The
    /// receiver reads each at once.
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
            let segment = after(40, ms, MSS);
            let opens = |_: &u64| {
                self.next += MSS;
                let opens = self.window.on_data(at(ms), &segment, self.next, MSS);
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

    /// `tcp_rcv_rtt_update`: down at once, up by an eighth; one sample for each acknowledgement.
    #[test]
    fn round_trips_are_sampled_from_timestamps() {
        let mut window = window(16_384);
        let mut now = 1_000;
        let mut sample = |round_trip: u64, payload: u64| {
            now += 1_000;
            window.on_data(at(now), &after(round_trip, now, payload), MSS, MSS);
            window.on_data(at(now + 5), &after(round_trip + 5, now + 5, payload), MSS, MSS);
            window.tuning.as_ref().unwrap().round_trip_us.unwrap() / 1_000
        };
        assert_eq!(sample(50, MSS), 50);
        assert_eq!(sample(90, MSS), 55);
        assert_eq!(sample(90, 100), 55, "a segment that is not full");
        assert_eq!(sample(40, MSS), 40);
    }

    /// A queue of acknowledgements belongs to the round trip: at a segment per 10 ms, 60 are in 600 ms.
    #[test]
    fn the_buffer_follows_a_round_trip_that_grows_on_the_way_back() {
        let mut reader = Reader::new(window(16_384));
        let mut now = 1_000;
        for round_trip in [40, 600] {
            for _ in 0..600 {
                now += 10;
                let segment = after(round_trip, now, MSS);
                reader.next += MSS;
                reader.window.on_data(at(now), &segment, reader.next, MSS);
                reader.window.on_read(at(now), reader.next, None);
            }
        }
        assert!(reader.window.tuning.as_ref().unwrap().buffer > 2 * 59 * MSS, "60 segments in a round trip");
    }

    /// `tcp_rcv_rtt_measure`: the time in which a window of 45 segments arrives, at least.
    #[test]
    fn without_timestamps_a_window_of_data_takes_a_round_trip() {
        let mut window = window(16_384);
        let mut next = 0;
        for ms in 1..=200 {
            next += MSS;
            let segment = Segment { payload: MSS as u32, ..Segment::default() };
            window.on_data(at(ms), &segment, next, MSS);
            window.advertised(next, 0);
        }
        assert_eq!(window.tuning.unwrap().round_trip_us, Some(44_000), "to the end of the first window");
    }

    /// `tcp_data_queue_ofo`: the buffer has room for the gap, and for what is read in two round trips.
    #[test]
    fn data_beyond_a_gap_enlarges_the_buffer() {
        let mut window = window(16_384);
        window.on_gap(10 * MSS, 60 * MSS);
        assert_eq!(window.tuning.as_ref().unwrap().buffer, 70 * MSS);
        assert!(window.is_crowded(36 * MSS) && !window.is_crowded(35 * MSS));
    }

    /// Stamps wrap after 71 minutes.
    #[test]
    fn stamps_wrap() {
        let mut window = window(16_384);
        let sent = Time::from_ns(((1_u64 << 32) - 5) * 1_000);
        let echo = Some(sent);
        let segment =
            Segment { payload: MSS as u32, echo, ack_stamp: window.stamp(sent), ..Segment::default() };
        window.on_data(Time::from_ns(((1_u64 << 32) + 15) * 1_000), &segment, MSS, MSS);
        assert_eq!(window.tuning.as_ref().unwrap().round_trip_us, Some(20));
    }

    #[test]
    fn a_window_that_is_not_tuned_is_the_whole_buffer() {
        let mut window = ReceiveWindow::new(&TcpOptions::default());
        let segment = Segment { payload: 1_460, ..Segment::default() };
        assert!(!window.on_data(at(1), &segment, 1_460, 1_460));
        assert_eq!((window.stamp(at(1)), window.is_crowded(u64::MAX)), (0, false));
        window.on_read(at(1), 1_460, None);
        assert_eq!(window.advertised(1_460, 5_000), 1_024 * 1_460);
    }
}
