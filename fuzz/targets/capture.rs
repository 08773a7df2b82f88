//! Any bytes as a capture file: records or one sentence, never a panic.

use multihop_capture::{Capture, DissectError, airtime, dissect};

/// Reads everything that can be read. Returns how many records there were.
pub fn check(file: &[u8]) -> u64 {
    let mut capture = match Capture::from_reader(file) {
        Ok(capture) => capture,
        Err(error) => {
            assert!(error.to_string().len() > 20, "{error}");
            return 0;
        }
    };
    let mut count = 0;
    while let Some(record) = capture.next() {
        match record {
            Ok(record) => {
                count += 1;
                assert!(record.bytes.len() <= record.original_length as usize);
                match dissect(&record) {
                    Ok((reception, frame)) => {
                        assert!(frame.air_bytes >= frame.header_bytes);
                        let _ = airtime(&reception, frame.air_bytes);
                    }
                    Err(DissectError::Frame { error, reception, air_bytes }) => {
                        assert!(error.to_string().len() > 10);
                        let _ = airtime(&reception, air_bytes);
                    }
                    Err(error) => assert!(error.to_string().len() > 10),
                }
            }
            Err(error) => assert!(error.to_string().len() > 20, "{error}"),
        }
    }
    count
}
