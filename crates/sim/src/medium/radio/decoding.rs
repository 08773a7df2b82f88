//! Decoding: whether the bits of the received frame, or of each of its MPDUs, are correct.

use super::Radio;
use crate::medium::load::Course;
use crate::medium::locked_signal::LockedSignal;
use crate::medium::{Bitmap, Collisions, Frame, Link, Loads, Mpdu, RateErrors, Reception};
use multihop_core::{Interval, Rng, Span, Time};

/// Progress of decoding an A-MPDU during its reception, identified by its transmitter and start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decoding {
    begun: Option<(u32, Time)>,
    /// Set if preamble or header was not recognized; true if it would have failed without interference too.
    header_failed: Option<bool>,
    /// Next MPDU to decode.
    course: Course,
    /// Whether the failed MPDUs would have failed without interference too.
    failed_alone: bool,
}

/// Time to detect a preamble: half of a short training field.
pub(super) const DETECTION: Span = Span::from_us(4);

/// Interval of L-SIG and the signal field behind it (HT-SIG or VHT-SIG-A) in a PPDU that begins at `start`,
/// which are decoded after the preamble is detected (802.11-2016, 17.3.2.2 and 19.3.2).
fn signal_fields(start: Time) -> Interval {
    Interval { start: start + Span::from_us(16), end: start + Span::from_us(28) }
}

impl Radio {
    /// Marks all MPDUs of a frame as arrived.
    pub(super) fn note_whole(&mut self, mpdus: usize) {
        if mpdus > 1 {
            self.rest.arrived = Bitmap::of_first(mpdus);
        }
    }

    /// MPDUs decoded from the A-MPDU that is being received, or else was received last.
    pub fn arrived(&self) -> &Bitmap {
        &self.rest.arrived
    }

    /// Handles the end of an MPDU that is not the last of its A-MPDU; `course` is the progress before it.
    /// Returns whether it was decoded; none if the A-MPDU is not being received any more.
    pub fn mpdu_ends(
        &mut self,
        collisions: &Collisions,
        link: &Link,
        frame: &Frame,
        (mpdus, course): (&[Mpdu], &Course),
        loss: f64,
        now: Time,
    ) -> Option<bool> {
        if matches!(collisions, Collisions::Sinr { .. }) {
            self.count_bits(collisions, now);
        }
        let locked = self.locked().filter(|locked| locked.is_of(frame) && locked.is_intact())?;
        if locked.start() != frame.air.start || self.is_off() || is_too_weak(collisions, link, frame) {
            return None;
        }
        let decoding = self.decode_until(collisions, link, frame, (mpdus, course.place() + 1), loss);
        decoding.header_failed.is_none().then(|| self.rest.arrived.has(course.place()))
    }

    /// Decodes the received frame, where more than overlaps decides. Returns the reception, and whether the
    /// frame failed without interference too.
    #[inline(never)]
    pub(super) fn decode(
        &mut self,
        collisions: &Collisions,
        link: &Link,
        frame: &Frame,
        loss: f64,
        loads: &Loads,
    ) -> (Reception, bool) {
        let mpdus = loads.mpdus(frame.load);
        if mpdus.len() > 1 {
            let decoding = self.decode_until(collisions, link, frame, (mpdus, mpdus.len()), loss);
            // No MPDU of a truncated A-MPDU counts as arrived.
            let decoded = self.rest.arrived.count() > 0 && link.ln_bit_success > f64::NEG_INFINITY;
            return match decoding.header_failed {
                Some(alone) => (Reception::Noise, alone),
                None if decoded => (Reception::Decoded, false),
                None => (Reception::FcsError, decoding.failed_alone),
            };
        }
        let lock =
            self.lock.as_ref().expect("a frame is decoded that was received").with(&self.rest.disturbance);
        if let Some(drawn) = wrong(&mut self.rest.rng, lock.ln_header(), 0.0) {
            return (Reception::Noise, drawn >= lock.ln_header_alone(collisions, frame).exp());
        }
        let of_link = link.ln_bit_success * f64::from(frame.bytes) * 8.0;
        let Some(drawn) = wrong(&mut self.rest.rng, lock.ln_success() + of_link, loss) else {
            return (Reception::Decoded, false);
        };
        // The same random number decides whether the frame would have failed alone.
        let alone = (lock.ln_success_alone(collisions, frame) + of_link).exp() * (1.0 - loss);
        (Reception::FcsError, drawn >= alone)
    }

    /// Decodes the first MPDUs of the received A-MPDU, except those decoded before. Each has the bits of its
    /// part of the PSDU.
    fn decode_until(
        &mut self,
        collisions: &Collisions,
        link: &Link,
        frame: &Frame,
        (mpdus, places): (&[Mpdu], usize),
        loss: f64,
    ) -> Decoding {
        let lock =
            self.lock.as_ref().expect("a frame is decoded that was received").with(&self.rest.disturbance);
        let begun = Some((frame.from.0, lock.start()));
        let mut decoding = self.rest.decoding;
        if decoding.begun != begun {
            let header = wrong(&mut self.rest.rng, lock.ln_header(), 0.0);
            let header_failed = header.map(|drawn| drawn >= lock.ln_header_alone(collisions, frame).exp());
            decoding = Decoding { begun, header_failed, course: Course::of(mpdus), failed_alone: true };
            self.rest.arrived = Bitmap::default();
        }
        let psdu_ns = frame.psdu_airtime().ns() as f64;
        while decoding.header_failed.is_none() && decoding.course.place() < places {
            let (place, bytes) = (decoding.course.place(), mpdus[decoding.course.place()].bytes);
            let (from, share) = (decoding.course.begins(), f64::from(bytes) / f64::from(frame.bytes));
            let ln_success = self.rest.curve.between(from * psdu_ns, (from + share) * psdu_ns);
            let of_link = link.ln_bit_success * f64::from(bytes) * 8.0;
            match wrong(&mut self.rest.rng, ln_success + of_link, loss) {
                None => self.rest.arrived.set(place),
                // The same random number decides whether the MPDU would have failed alone.
                Some(drawn) => {
                    let all_alone = lock.ln_success_alone(collisions, frame);
                    decoding.failed_alone &= drawn >= (all_alone * share + of_link).exp() * (1.0 - loss);
                }
            }
            decoding.course.advance(mpdus);
        }
        self.rest.decoding = decoding;
        decoding
    }

    /// Adds the bits since the last change of interference to the success probability.
    #[inline(never)]
    pub(super) fn count_bits(&mut self, collisions: &Collisions, now: Time) {
        let Collisions::Sinr { noise, errors, header, detection, measured, .. } = collisions else { return };
        let Some(LockedSignal { power, start, counted: true, .. }) = &self.lock else { return };
        let bits = &mut self.rest.disturbance.bits;
        let interference = self.energy as f64 - *power;
        let (own_noise, disturbed) = (bits.noise, *noise as f64 + interference.max(0.0));
        let per_bit = |of_rate: &RateErrors| {
            if *measured {
                of_rate.due_to(interference, *power, own_noise)
            } else {
                of_rate.table.bit_success_ln(*power / disturbed)
            }
        };
        if let Some(of_header) = header
            && bits.header_counted < bits.from
        {
            let period = Interval { start: bits.header_counted, end: now.min(bits.from) };
            let detects = period.start <= *start + DETECTION && period.end > period.start;
            if detects && *power < *detection * disturbed {
                bits.ln_header = f64::NEG_INFINITY;
            }
            let counted = if *detection > 0.0 {
                let fields = signal_fields(*start);
                period.end.min(fields.end).since(period.start.max(fields.start))
            } else {
                period.length()
            };
            bits.ln_header += counted.seconds() * of_header.bps * per_bit(of_header);
            bits.header_counted = now;
        }
        let length: Span = now.since(bits.counted);
        if length == Span::ZERO {
            return;
        }
        let of_rate = &errors[bits.rate];
        bits.ln_success += length.seconds() * of_rate.bps * per_bit(of_rate);
        bits.counted = now;
        if bits.keeps_curve {
            self.rest.curve.reach(now.since(bits.from), bits.ln_success);
        }
    }
}

/// Draws whether a frame is lost, given the logarithm of the probability that all bits are correct, and its
/// loss probability. Returns the drawn random number if it is lost.
#[inline]
fn wrong(rng: &mut Rng, ln_success: f64, loss: f64) -> Option<f64> {
    if ln_success >= 0.0 && loss <= 0.0 {
        return None;
    }
    let (drawn, kept) = (rng.unit(), 1.0 - loss);
    // For x <= 0, 1 + x <= exp(x) <= 1 / (1 - x + x^2 / 2), so that most draws need no exponential.
    if drawn < (1.0 + ln_success) * kept - BOUND_MARGIN {
        return None;
    }
    let divisor = 1.0 + ln_success * (0.5 * ln_success - 1.0);
    let is_wrong = (drawn - BOUND_MARGIN) * divisor > kept || drawn >= ln_success.exp() * kept;
    is_wrong.then_some(drawn)
}

/// Distance from a bound at which rounding cannot change a decision.
const BOUND_MARGIN: f64 = 1e-12;

/// Whether the power of a frame is below the sensitivity of its rate. The header, at the lowest rate, was
/// decoded.
pub(super) fn is_too_weak(collisions: &Collisions, link: &Link, frame: &Frame) -> bool {
    matches!(collisions, Collisions::Sinr { errors, .. } if link.power < errors[frame.rate_index()].least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::RateClass;
    use multihop_core::Rng;
    use multihop_dot11::{DataRate, Mcs, Phy, Preamble, Standard};

    const NOISE: u64 = 316;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn frame(from: u32, start: u64) -> Frame {
        let air = Interval { start: at(start), end: at(start + 228) };
        Frame { bytes: 1_538, overhead: Span::from_us(36), ..Frame::sample(from, air) }
    }

    /// Receptions of two frames with these powers, the second of which begins `later_us` later.
    fn both(detection: f64, later_us: u64, powers: [u64; 2]) -> [Reception; 2] {
        let phy = Phy::new(Standard::Dot11n, Preamble::Long);
        let errors = RateErrors::new(&phy, DataRate::Mcs(Mcs { streams: 1, scheme: 7 }));
        let collisions = Collisions::Sinr {
            noise: NOISE,
            sensitivity: NOISE,
            errors: vec![errors; RateClass::COUNT].into(),
            header: Some(Box::new(RateErrors::of_header())),
            detection,
            measured: false,
        };
        let link = |power: u64| Link::new(9, true, power, power as f64, 0.0);
        let powers = powers.map(link);
        let mut radio = Radio::new(NOISE, Rng::at(1, &["test"]));
        let frames = [frame(1, 0), frame(2, later_us)];
        for (link, frame) in powers.iter().zip(&frames) {
            radio.begin(&collisions, link, frame, frame.air.start);
        }
        let end = |(link, frame): (&Link, &Frame)| {
            radio.finish(&collisions, link, frame, || 0.0, &Loads::default(), frame.end()).reception
        };
        let [first, second] = [0, 1].map(|place| (&powers[place], &frames[place])).map(end);
        [first, second]
    }

    /// Reception of a frame during which a frame weaker by 3 dB begins `later_us` later.
    fn overlapped(detection: f64, later_us: u64) -> Reception {
        both(detection, later_us, [2_000_000, 1_000_000])[0]
    }

    /// At 3 dB the bits of a header are mostly correct, those at MCS 7 are not.
    #[test]
    fn below_the_ratio_of_detection_no_frame_is_recognized() {
        assert_eq!(overlapped(0.0, 0), Reception::FcsError);
        let four_db = 10f64.powf(0.4);
        assert_eq!(overlapped(four_db, 0), Reception::Noise);
        assert_eq!(overlapped(four_db, 4), Reception::Noise, "when it is detected");
        assert_eq!(overlapped(four_db, 5), Reception::FcsError, "it is detected by then");
    }

    /// 20 dB more suffice for the header, but not for MCS 7.
    #[test]
    fn of_preambles_that_begin_before_one_is_detected_the_strongest_is_received() {
        let powers = [10_000, 1_000_000];
        let four_db = 10f64.powf(0.4);
        assert_eq!(both(four_db, 3, powers), [Reception::NotSynchronised, Reception::FcsError]);
        assert_eq!(both(four_db, 4, powers), both(four_db, 3, powers), "when it is detected");
        assert_eq!(both(four_db, 5, powers)[1], Reception::NotSynchronised, "the first is detected by then");
        assert_eq!(both(0.0, 3, powers)[1], Reception::NotSynchronised, "without detection it is at once");
    }

    /// Bounds of the exponential decide as the exponential itself, for the same random numbers.
    #[test]
    fn bounds_change_no_decision() {
        let mut cases = Rng::at(1, &["cases"]);
        let logarithms = [0.0, -1e-15, -1e-9, f64::NEG_INFINITY];
        for case in 0..200_000_usize {
            let random = -cases.exponential(2.0);
            let ln_success = logarithms.get(case % 8).copied().unwrap_or(random);
            let loss = [0.0, 0.3, 1.0][case % 3];
            let mut rng = Rng::numbered(1, "draws", &[case as u64]);
            let drawn = rng.clone().unit();
            let expected = (ln_success < 0.0 || loss > 0.0) && drawn >= ln_success.exp() * (1.0 - loss);
            assert_eq!(wrong(&mut rng, ln_success, loss), expected.then_some(drawn), "{ln_success} {loss}");
        }
    }
}
