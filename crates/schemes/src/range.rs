//! Is a parameter within its range? Each check answers with its name, what was found, and what would do.

use crate::Misfit;
use crate::quantity::{BitRate, Duration, Size};
use std::fmt::Display;

/// Is `value`, if it was given, within `least..=most`? `unit` follows the bounds in the message.
///
/// # Errors
/// The parameter, what was found, and what would do.
pub(crate) fn between<V: Display + PartialOrd>(
    name: &str,
    value: Option<V>,
    least: V,
    most: V,
    unit: &str,
) -> Result<(), Misfit> {
    let range = least..=most;
    match value {
        Some(value) if !range.contains(&value) => {
            let remedy = format!("it must be between {} and {}{unit}", range.start(), range.end());
            Err(Misfit::of(name, value, remedy))
        }
        _ => Ok(()),
    }
}

/// Is `value`, if it was given, within `least..=most`?
///
/// # Errors
/// The parameter, what was found, and what would do.
pub fn in_range(name: &str, value: Option<u32>, least: u32, most: u32, unit: &str) -> Result<(), Misfit> {
    between(name, value, least, most, &format!(" {unit}"))
}

/// Is `value`, if it was given, a whole number of bytes within `least..=most`?
///
/// # Errors
/// The parameter, what was found, and what would do.
pub fn size_in_range(name: &str, value: Option<Size>, least: f64, most: f64) -> Result<(), Misfit> {
    match value {
        Some(value) if !(least..=most).contains(&value.0) || value.0.fract() != 0.0 => {
            let (least, most) = (Size(least), Size(most));
            let remedy = format!("it must be a whole number of bytes between {least} and {most}");
            Err(Misfit::of(name, value, remedy))
        }
        _ => Ok(()),
    }
}

/// Bytes per second of a bit rate.
pub(crate) fn bytes_per_second(rate: BitRate) -> f64 {
    rate.0 / 8.0
}

/// Is `rate`, if it was given, one that 32 bits of bytes per second can hold?
///
/// # Errors
/// The parameter, what was found, and what would do.
pub(crate) fn rate_in_range(name: &str, rate: Option<BitRate>) -> Result<(), Misfit> {
    between(name, rate, BitRate(8.0), BitRate(16e9), "")
}

/// Is `value`, if it was given, within `least..=most` seconds?
///
/// # Errors
/// The parameter, what was found, and what would do.
pub fn span_in_range(name: &str, value: Option<Duration>, least: f64, most: f64) -> Result<(), Misfit> {
    between(name, value, Duration(least), Duration(most), "")
}

/// Is `value` within `least..=most`?
///
/// # Errors
/// The parameter, what was found, and what would do.
pub fn number_in_range(name: &str, value: f64, least: f64, most: f64) -> Result<(), Misfit> {
    between(name, Some(value), least, most, "")
}

/// Is a weight of the newest sample in a mean above 0, and at most 1?
///
/// # Errors
/// The parameter, what was found, and what would do.
pub(crate) fn check_weight(name: &str, weight: f64) -> Result<(), Misfit> {
    if weight > 0.0 && weight <= 1.0 {
        Ok(())
    } else {
        Err(Misfit::of(name, weight, "it must be above 0, and at most 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_of_one_is_the_present_value_alone() {
        assert_eq!(check_weight("smoothing", 1.0), Ok(()));
        assert!(check_weight("smoothing", 0.0).is_err() && check_weight("smoothing", 1.0001).is_err());
    }
}
