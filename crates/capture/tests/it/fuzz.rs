//! Damaged files: small valid files, mutated as a broken disk, a hostile sender or a faulty driver could.

use crate::capture::check as exhaust;
use crate::common::gzip;
use crate::common::mutation::{config, mutate, mutation, packet, seeds};
use multihop_capture::{Frame, LinkType, RxInfo, airtime, radiotap};
use proptest::prelude::*;

#[test]
fn the_seeds_are_good() {
    let counts: Vec<u64> = seeds().iter().map(|file| exhaust(file)).collect();
    assert_eq!(counts, [3, 3, 2, 2, 1, 1, 3]);
    let packet = packet();
    let (reception, frame) = RxInfo::parse(LinkType::Radiotap, &packet).unwrap();
    assert!(!reception.header_damaged, "{reception:?}");
    assert!(Frame::parse(frame, 0, &reception).unwrap().payload.unwrap().network.is_some());
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn mutated_files_give_records_or_a_sentence(
        seed in 0..7_usize,
        mutations in prop::collection::vec(mutation(), 1..8),
    ) {
        let mut file = seeds().swap_remove(seed);
        for mutation in &mutations {
            mutate(&mut file, mutation);
        }
        exhaust(&file);
        exhaust(&gzip(&file));
    }

    #[test]
    fn any_bytes_are_a_header_and_a_frame_or_an_error(
        link_type in prop::sample::select(vec![105_u16, 119, 127, 163, 192, 0, 1, 101, 113, 276]),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cut in any::<u32>(),
    ) {
        match RxInfo::parse(LinkType::from_number(link_type), &bytes) {
            Ok((reception, frame)) => {
                prop_assert!(frame.len() <= bytes.len());
                if let Ok(frame) = Frame::parse(frame, cut, &reception) {
                    let _ = airtime(&reception, frame.air_bytes);
                }
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_presence_words_end(
        words in prop::collection::vec(any::<u32>(), 0..6),
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut header = vec![0, 0, 0, 0];
        header.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        header.extend(rest);
        header.resize(header.len().max(8), 0);
        let length = header.len() as u16;
        header[2..4].copy_from_slice(&length.to_le_bytes());
        let total: usize = radiotap::fields(&header).unwrap().map(|field| match field {
            radiotap::RadiotapField::Known { bytes, .. }
            | radiotap::RadiotapField::Vendor { bytes, .. }
            | radiotap::RadiotapField::TypeLengthValue { bytes, .. } => bytes.len(),
            radiotap::RadiotapField::Unknown { .. } | radiotap::RadiotapField::Damaged => 0,
        }).sum();
        prop_assert!(total + 8 <= header.len(), "no byte is read twice");
    }
}
