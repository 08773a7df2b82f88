//! A whole capture, interface by interface.

use crate::interface::Interface;
use crate::{Options, SnifferReport};
use multihop_capture::{Capture, CaptureError};

/// Interfaces beyond so many are not distinguished: no capture has them, and a broken file may.
const MOST_INTERFACES: usize = 1_024;

/// Estimators run for so many interfaces, as each keeps a time series.
const MOST_WATCHED: usize = 64;

/// What a capture says.
#[derive(Clone, Debug)]
pub struct Survey {
    /// One per interface that saw anything, and channel that it was on: what it saw.
    pub sniffers: Vec<Surveyed>,
    /// Records that could be read.
    pub records: u64,
    /// Bytes of the file, uncompressed, up to where it was read.
    pub bytes: u64,
    /// Why the file could not be read to its end.
    pub broken: Option<String>,
}

/// What an interface saw on a channel.
#[derive(Clone, Debug)]
pub struct Surveyed {
    /// Number of the interface in the file.
    pub interface: usize,
    /// Its name.
    pub name: Option<String>,
    /// Frequency of the channel in MHz; zero where it is unknown.
    pub channel_mhz: u16,
    /// What was seen there.
    pub report: SnifferReport,
}

/// Reads a capture to its end, or to where it is broken. `watch` is called with the bytes read now and then,
/// and may stop it.
///
/// # Errors
/// If it is no capture at all.
pub fn survey(
    mut capture: Capture<'_>,
    options: &Options,
    mut watch: impl FnMut(u64) -> bool,
) -> Result<Survey, CaptureError> {
    let mut seen: Vec<Option<Interface>> = Vec::new();
    let (mut records, mut broken) = (0, None);
    while let Some(record) = capture.next() {
        let record = match record {
            Ok(record) => record,
            // Of a file that is broken from its first record on nothing can be said.
            Err(error) if records == 0 => return Err(error),
            Err(error) => {
                broken = Some(error.to_string());
                break;
            }
        };
        records += 1;
        let interface = record.interface.min(MOST_INTERFACES);
        if interface >= seen.len() {
            seen.resize_with(interface + 1, || None);
        }
        let watched = interface < MOST_WATCHED;
        seen[interface]
            .get_or_insert_with(|| {
                let gauges = if watched { options.gauges.clone() } else { Vec::new() };
                Interface::new(Options { gauges, ..options.clone() })
            })
            .process(&record);
        if records % 16_384 == 0 && !watch(capture.position()) {
            break;
        }
    }
    let bytes = capture.position();
    let names: Vec<Option<String>> =
        capture.interfaces().iter().map(|interface| interface.name.clone()).collect();
    let sniffers = seen
        .into_iter()
        .enumerate()
        .filter_map(|(number, interface)| interface.map(|interface| (number, interface)))
        .flat_map(|(number, interface)| {
            let name = names.get(number).cloned().flatten();
            interface.finish(broken.is_some()).into_iter().map(move |(channel_mhz, report)| Surveyed {
                interface: number,
                name: name.clone(),
                channel_mhz,
                report,
            })
        })
        .collect();
    Ok(Survey { sniffers, records, bytes, broken })
}
