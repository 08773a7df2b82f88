//! Is a parameter within its range? Each check answers with a sentence that names it, what was found, and what would do.

use crate::quantity::{BitRate, Duration, Size};

/// Is `value`, if it was given, within `least..=most`?
///
/// # Errors
/// A sentence that names the parameter, what was found, and what would do.
pub fn in_range(name: &str, value: Option<u32>, least: u32, most: u32, unit: &str) -> Result<(), String> {
    match value {
        Some(value) if !(least..=most).contains(&value) => {
            Err(format!("{name} is {value}; it must be between {least} and {most} {unit}"))
        }
        _ => Ok(()),
    }
}

/// Is `value`, if it was given, a whole number of bytes within `least..=most`?
///
/// # Errors
/// A sentence that names the parameter, what was found, and what would do.
pub fn size_in_range(name: &str, value: Option<Size>, least: f64, most: f64) -> Result<(), String> {
    match value {
        Some(value) if !(least..=most).contains(&value.0) || value.0.fract() != 0.0 => {
            let (least, most) = (Size(least), Size(most));
            Err(format!("{name} is {value}; it must be a whole number of bytes between {least} and {most}"))
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
/// A sentence that names the parameter, what was found, and what would do.
pub(crate) fn rate_in_range(name: &str, rate: Option<BitRate>) -> Result<(), String> {
    const LEAST: BitRate = BitRate(8.0);
    const MOST: BitRate = BitRate(16e9);
    match rate {
        Some(rate) if !(LEAST..=MOST).contains(&rate) => {
            Err(format!("{name} is {rate}; it must be between {LEAST} and {MOST}"))
        }
        _ => Ok(()),
    }
}

/// Is `value`, if it was given, within `least..=most` seconds?
///
/// # Errors
/// A sentence that names the parameter, what was found, and what would do.
pub fn span_in_range(name: &str, value: Option<Duration>, least: f64, most: f64) -> Result<(), String> {
    match value {
        Some(value) if !(least..=most).contains(&value.0) => {
            let (least, most) = (Duration(least), Duration(most));
            Err(format!("{name} is {value}; it must be between {least} and {most}"))
        }
        _ => Ok(()),
    }
}

/// Is `value` within `least..=most`?
///
/// # Errors
/// A sentence that names the parameter, what was found, and what would do.
pub fn number_in_range(name: &str, value: f64, least: f64, most: f64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} is {value}; it must be between {least} and {most}"))
    }
}

/// Is a weight of the newest sample in a mean above 0, and at most 1?
///
/// # Errors
/// A sentence with its name, what was found, and what would do.
pub(crate) fn check_weight(name: &str, weight: f64) -> Result<(), String> {
    if weight > 0.0 && weight <= 1.0 {
        Ok(())
    } else {
        Err(format!("{name} is {weight}; it must be above 0, and at most 1"))
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
