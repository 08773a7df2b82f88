//! A whole capture, interface by interface.

use crate::{Options, Sniffer, SnifferReport};
use multihop_capture::{Capture, CaptureError};

/// Interfaces beyond so many are not distinguished: no capture has them, and a broken file may.
const MOST_INTERFACES: usize = 1_024;

/// Estimators run for so many interfaces, as each keeps a time series.
const MOST_WATCHED: usize = 64;

/// What a capture says.
#[derive(Clone, Debug)]
pub struct Survey {
    /// One per interface that saw anything: its number in the file, its name, and what it saw.
    pub interfaces: Vec<(usize, Option<String>, SnifferReport)>,
    /// Records that could be read.
    pub records: u64,
    /// Bytes of the file, uncompressed, up to where it was read.
    pub bytes: u64,
    /// Why the file could not be read to its end.
    pub broken: Option<String>,
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
    let mut sniffers: Vec<Option<Sniffer>> = Vec::new();
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
        if interface >= sniffers.len() {
            sniffers.resize_with(interface + 1, || None);
        }
        let watched = interface < MOST_WATCHED;
        sniffers[interface]
            .get_or_insert_with(|| {
                let gauges = if watched { options.gauges.clone() } else { Vec::new() };
                Sniffer::new(Options { gauges, ..options.clone() })
            })
            .see(&record);
        if records % 16_384 == 0 && !watch(capture.position()) {
            break;
        }
    }
    let bytes = capture.position();
    let names: Vec<Option<String>> =
        capture.interfaces().iter().map(|interface| interface.name.clone()).collect();
    let interfaces = sniffers
        .into_iter()
        .enumerate()
        .filter_map(|(number, sniffer)| sniffer.map(|sniffer| (number, sniffer)))
        .map(|(number, mut sniffer)| {
            if broken.is_some() {
                sniffer.broken();
            }
            (number, names.get(number).cloned().flatten(), sniffer.finish())
        })
        .collect();
    Ok(Survey { interfaces, records, bytes, broken })
}
