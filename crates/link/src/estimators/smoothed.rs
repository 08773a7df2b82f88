//! Exponentially weighted means, of samples one by one or of intervals.

use multihop_core::{Span, Time};

/// A mean in which the newest sample has a fixed weight. It starts at the first sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoothed {
    gain: f64,
    value: Option<f64>,
}

impl Smoothed {
    /// An empty mean; `gain` is the weight of a new sample, in (0, 1].
    pub(crate) fn new(gain: f64) -> Smoothed {
        Smoothed { gain, value: None }
    }

    /// Mean, if there was a sample.
    pub(crate) fn get(self) -> Option<f64> {
        self.value
    }

    /// The mean after one more sample, without adding it.
    pub(crate) fn with(self, sample: f64) -> f64 {
        self.value.map_or(sample, |old| old + self.gain * (sample - old))
    }

    /// Adds a sample.
    pub(crate) fn add(&mut self, sample: f64) {
        self.value = Some(self.with(sample));
    }
}

/// Declares a table of options: those of [`Intervals`], and options of its owner behind them.
macro_rules! interval_options {
    (($d:tt) $(#[$doc:meta])* $config:ident, listed by $list:ident: $($own:tt)*) => {
        multihop_config::parameters! {
            ($d)
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq)]
            $config, listed by $list:
            /// Interval `T` of a sample. 200 ms is the interval of BMCC.
            interval: Span from "1 ms" to "1 min" = Span::from_ms(200);
            /// Weight of a new sample, `1 - a`: above 0, up to 1, which uses the last one alone.
            smoothing: f64 [above 0, 1] = 1.0 / 8.0;
            $($own)*
        }
    };
}
pub(super) use interval_options;

/// Mean over intervals of a fixed length, counted from the start of the run. The owner measures the current
/// interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intervals {
    length: Span,
    smoothed: Smoothed,
    /// Number of the current interval.
    number: u64,
}

impl Intervals {
    /// Creates an empty mean over intervals of `length`. `gain`, in (0, 1], is the weight of a new interval.
    pub(crate) fn new(length: Span, gain: f64) -> Intervals {
        Intervals { length, smoothed: Smoothed::new(gain), number: 0 }
    }

    /// The mean at `now`. `sample` is the value of the current interval, which counts once that is over.
    pub(crate) fn at(&self, now: Time, sample: Option<f64>) -> Option<f64> {
        match sample.filter(|_| self.is_over(now)) {
            Some(sample) => Some(self.smoothed.with(sample)),
            None => self.smoothed.get(),
        }
    }

    /// Whether the current interval is over at `now`.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.number_at(now) > self.number
    }

    /// Adds the sample of the current interval, if any, and starts the interval of `now`.
    pub(crate) fn close(&mut self, now: Time, sample: Option<f64>) {
        if let Some(sample) = sample {
            self.smoothed.add(sample);
        }
        self.number = self.number_at(now);
    }

    /// Start of the current interval.
    pub(crate) fn start(&self) -> Time {
        Time::ZERO + self.length * self.number
    }

    /// Length of each interval.
    pub(crate) fn length(&self) -> Span {
        self.length
    }

    fn number_at(&self, now: Time) -> u64 {
        now.since(Time::ZERO).whole(self.length)
    }
}
