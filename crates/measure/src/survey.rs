//! Survey of a whole capture, interface by interface.

use crate::interface::InterfaceReader;
use crate::{SnifferReport, SurveyOptions};
use multihop_capture::{Capture, CaptureError};

/// Limit on the number of interfaces; only a damaged file exceeds it.
const MAX_INTERFACES: usize = 1_024;

/// Number of interfaces with estimators, each of which keeps a time series.
const MAX_WITH_ESTIMATORS: usize = 64;

/// Measurements of a capture.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Measurements of each interface with records, and of each of its channels.
    pub sniffers: Vec<ChannelSurvey>,
    /// Number of readable records.
    pub records: u64,
    /// Number of bytes read of the decompressed file.
    pub bytes: u64,
    /// Error that ended reading before the end of the file.
    pub broken: Option<String>,
}

/// Measurements of an interface on a channel.
#[derive(Clone, Debug)]
pub struct ChannelSurvey {
    /// Number of the interface in the file.
    pub interface: usize,
    /// Name of the interface.
    pub name: Option<String>,
    /// Frequency of the channel in MHz; zero if unknown.
    pub channel_mhz: u16,
    /// Measurements.
    pub report: SnifferReport,
}

/// Reads a capture to its end, or up to an error. `watch` is called regularly with the number of bytes read,
/// and returns false to stop.
///
/// # Errors
/// If the file is not a capture.
pub fn survey(
    mut capture: Capture<'_>,
    options: &SurveyOptions,
    mut watch: impl FnMut(u64) -> bool,
) -> Result<Survey, CaptureError> {
    let mut seen: Vec<Option<InterfaceReader>> = Vec::new();
    let (mut records, mut broken) = (0, None);
    while let Some(record) = capture.next() {
        let record = match record {
            Ok(record) => record,
            // Without a single record, there is nothing to report.
            Err(error) if records == 0 => return Err(error),
            Err(error) => {
                broken = Some(error.to_string());
                break;
            }
        };
        records += 1;
        let interface = record.interface.min(MAX_INTERFACES);
        if interface >= seen.len() {
            seen.resize_with(interface + 1, || None);
        }
        let has_estimators = interface < MAX_WITH_ESTIMATORS;
        seen[interface]
            .get_or_insert_with(|| {
                let estimators = if has_estimators { options.estimators.clone() } else { Vec::new() };
                InterfaceReader::new(SurveyOptions { estimators, ..options.clone() })
            })
            .process(&record);
        if records % 16_384 == 0 && !watch(capture.position()) {
            break;
        }
    }
    let bytes = capture.position();
    let names: Vec<Option<String>> =
        capture.interfaces().iter().map(|interface| interface.name.clone()).collect();
    let sniffers =
        seen.into_iter()
            .enumerate()
            .filter_map(|(number, interface)| interface.map(|interface| (number, interface)))
            .flat_map(|(number, interface)| {
                let name = names.get(number).cloned().flatten();
                interface.finish(broken.is_some()).into_iter().map(move |(channel_mhz, report)| {
                    ChannelSurvey { interface: number, name: name.clone(), channel_mhz, report }
                })
            })
            .collect();
    Ok(Survey { sniffers, records, bytes, broken })
}
