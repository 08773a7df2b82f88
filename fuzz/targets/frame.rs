//! Any bytes as a header of a link layer and a frame behind it. The first byte chooses the link layer, the
//! next two how much longer the frame was before it was cut.

use multihop_capture::{Frame, LinkType, RxInfo, airtime, radiotap};

const LINK_TYPES: [u16; 10] = [105, 119, 127, 163, 192, 1, 101, 113, 276, 0];

/// Parses the header and the frame.
pub fn check(bytes: &[u8]) {
    let [kind, low, high, bytes @ ..] = bytes else { return };
    let link_type = LinkType::from_number(LINK_TYPES[usize::from(*kind) % LINK_TYPES.len()]);
    if let Ok(fields) = radiotap::fields(bytes) {
        let read: usize = fields
            .map(|field| match field {
                radiotap::RadiotapField::Known { bytes, .. }
                | radiotap::RadiotapField::Vendor { bytes, .. }
                | radiotap::RadiotapField::TypeLengthValue { bytes, .. } => bytes.len(),
                radiotap::RadiotapField::Unknown { .. } | radiotap::RadiotapField::Damaged => 0,
            })
            .sum();
        assert!(read + 8 <= bytes.len(), "no byte is read twice");
    }
    match RxInfo::parse(link_type, bytes) {
        Ok((reception, frame)) => {
            assert!(frame.len() <= bytes.len());
            let cut = u32::from(u16::from_le_bytes([*low, *high]));
            if let Ok(frame) = Frame::parse(frame, cut, &reception) {
                let _ = airtime(&reception, frame.air_bytes);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
