//! Layout of radiotap: presence and position of fields.

use crate::bytes::{ByteOrder, array, bit};

/// Size and alignment of the fields defined by radiotap.org, by presence bit.
///
/// Fields are aligned to their largest member, relative to the beginning of the header. Bits 28 to 31 have
/// special meanings.
const FIELDS: [(u8, u8); 28] = [
    (8, 8),  // 0: TSFT
    (1, 1),  // 1: flags
    (1, 1),  // 2: rate
    (4, 2),  // 3: channel
    (2, 2),  // 4: FHSS
    (1, 1),  // 5: signal, dBm
    (1, 1),  // 6: noise, dBm
    (2, 2),  // 7: lock quality
    (2, 2),  // 8: transmit attenuation
    (2, 2),  // 9: transmit attenuation, dB
    (1, 1),  // 10: transmit power, dBm
    (1, 1),  // 11: antenna
    (1, 1),  // 12: signal, dB
    (1, 1),  // 13: noise, dB
    (2, 2),  // 14: receive flags
    (2, 2),  // 15: transmit flags
    (1, 1),  // 16: RTS retries
    (1, 1),  // 17: data retries
    (8, 4),  // 18: extended channel
    (3, 1),  // 19: MCS
    (8, 4),  // 20: A-MPDU status
    (12, 2), // 21: VHT
    (12, 8), // 22: timestamp
    (12, 2), // 23: HE
    (12, 2), // 24: HE-MU
    (6, 2),  // 25: HE-MU, other user
    (1, 1),  // 26: PSDU of no length
    (4, 2),  // 27: L-SIG
];

/// Type-length-value (TLV) fields follow all other fields of the word.
const TYPE_LENGTH_VALUE: u32 = 28;
const RADIOTAP_NAMESPACE: u32 = 29;
const VENDOR_NAMESPACE: u32 = 30;
const ANOTHER_WORD: u32 = 31;

/// Offset of the presence words.
const PRESENCE: usize = 4;

/// Field of a radiotap header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RadiotapField<'h> {
    /// Field of radiotap's own namespace.
    Known {
        /// Presence bit of the field.
        bit: u8,
        /// Number of times that the presence bits started again before this field. Fields of later rounds
        /// belong to one antenna each.
        round: u32,
        /// Bytes of the field, little-endian.
        bytes: &'h [u8],
    },
    /// Data of a vendor's namespace.
    Vendor {
        /// Organizationally unique identifier of the vendor.
        oui: [u8; 3],
        /// Index of the vendor's namespace.
        subspace: u8,
        /// Bytes of all fields in the namespace.
        bytes: &'h [u8],
    },
    /// Type-length-value field, as Wi-Fi 7 uses.
    TypeLengthValue {
        /// Type, which continues the numbers of the presence bits.
        kind: u16,
        /// Bytes of the field, little-endian.
        bytes: &'h [u8],
    },
    /// Presence bit without a known meaning, and so a field of unknown length: later fields cannot be found.
    /// The frame can, by the length of the header. Always the last item.
    Unknown {
        /// Number of the bit, counted over the words of one namespace.
        bit: u32,
    },
    /// Damaged header: a field or a presence word would lie beyond the end of the header. Always the last
    /// item.
    Damaged,
}

/// Iterator over the fields of a header, in order; made by [`super::fields`].
#[derive(Clone, Debug)]
pub struct RadiotapFields<'h> {
    header: &'h [u8],
    /// Offset of the next field, before alignment.
    at: usize,
    /// Offset of the presence word, and its remaining bits.
    word_at: usize,
    word: u32,
    space: Namespace,
    round: u32,
    /// Number of words of this namespace before the present one.
    words_before: u32,
    /// Whether only type-length-value fields remain.
    in_tlvs: bool,
    finished: bool,
}

/// Namespace of the presence bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Namespace {
    Radiotap,
    /// Undefined bits after the first 31.
    Undefined,
    /// Bits of a vendor, whose fields have already been skipped.
    Vendor,
}

impl<'h> RadiotapFields<'h> {
    /// Starts at the first field of `header`, which is the whole header without the frame.
    pub(super) fn new(header: &'h [u8]) -> RadiotapFields<'h> {
        let mut at = PRESENCE;
        let mut word = ByteOrder::Little.u32(header, at);
        let first = word;
        while word.is_some_and(|word| bit(word, ANOTHER_WORD)) {
            at += 4;
            word = ByteOrder::Little.u32(header, at);
        }
        RadiotapFields {
            header,
            at: at + 4,
            word_at: PRESENCE,
            // If the presence words exceed the header, the first field is reported as damaged.
            word: if word.is_some() { first.unwrap_or_default() } else { 1 },
            space: Namespace::Radiotap,
            round: 0,
            words_before: 0,
            in_tlvs: false,
            finished: false,
        }
    }

    /// The next `size` bytes, aligned.
    fn take(&mut self, size: usize, alignment: usize) -> Option<&'h [u8]> {
        let start = self.at.next_multiple_of(alignment);
        let bytes = self.header.get(start..start + size)?;
        self.at = start + size;
        Some(bytes)
    }

    /// The vendor's namespace: identifier, length and fields.
    fn vendor(&mut self) -> Option<RadiotapField<'h>> {
        let description = self.take(6, 2)?;
        let oui = array(description, 0)?;
        let bytes = self.take(usize::from(ByteOrder::Little.u16(description, 4)?), 1)?;
        Some(RadiotapField::Vendor { oui, subspace: description[3], bytes })
    }

    /// Field of radiotap's own namespace.
    fn known(&mut self, number: u32) -> Option<RadiotapField<'h>> {
        let (size, alignment) = *FIELDS.get(number as usize)?;
        let bytes = self.take(usize::from(size), usize::from(alignment))?;
        Some(RadiotapField::Known { bit: number as u8, round: self.round, bytes })
    }

    /// The next type-length-value field, which begins at a multiple of four bytes; none at the end. Fewer
    /// bytes than a type and a length need are padding.
    fn type_length_value(&mut self) -> Option<RadiotapField<'h>> {
        const HEAD: usize = 4;
        let start = self.at.next_multiple_of(4);
        let head = self.header.get(start..start + HEAD)?;
        let (kind, length) = (ByteOrder::Little.u16(head, 0)?, usize::from(ByteOrder::Little.u16(head, 2)?));
        let Some(bytes) = self.header.get(start + HEAD..start + HEAD + length) else {
            return Some(RadiotapField::Damaged);
        };
        self.at = start + HEAD + length;
        Some(RadiotapField::TypeLengthValue { kind, bytes })
    }

    /// Moves to the next presence word. Returns false after the last one.
    fn next_word(&mut self) -> bool {
        let Some(word) = ByteOrder::Little.u32(self.header, self.word_at) else { return false };
        if !bit(word, ANOTHER_WORD) {
            return false;
        }
        self.words_before += 1;
        match (bit(word, RADIOTAP_NAMESPACE), bit(word, VENDOR_NAMESPACE)) {
            (true, _) => {
                self.space = Namespace::Radiotap;
                (self.round, self.words_before) = (self.round + 1, 0);
            }
            (false, true) => (self.space, self.words_before) = (Namespace::Vendor, 0),
            (false, false) if self.space == Namespace::Radiotap => self.space = Namespace::Undefined,
            (false, false) => {}
        }
        self.word_at += 4;
        self.word = ByteOrder::Little.u32(self.header, self.word_at).unwrap_or_default();
        true
    }
}

impl<'h> Iterator for RadiotapFields<'h> {
    type Item = RadiotapField<'h>;

    fn next(&mut self) -> Option<RadiotapField<'h>> {
        while !self.finished {
            if self.in_tlvs {
                let field = self.type_length_value();
                self.finished = matches!(field, None | Some(RadiotapField::Damaged));
                return field;
            }
            let number = self.word.trailing_zeros();
            if number >= ANOTHER_WORD {
                self.finished = !self.next_word();
                continue;
            }
            self.word &= self.word - 1;
            let field = match (number, self.space) {
                (VENDOR_NAMESPACE, _) => self.vendor(),
                (RADIOTAP_NAMESPACE, _) | (_, Namespace::Vendor) => continue,
                (TYPE_LENGTH_VALUE, Namespace::Radiotap) => {
                    self.in_tlvs = true;
                    continue;
                }
                (_, Namespace::Radiotap) => self.known(number),
                (_, Namespace::Undefined) => {
                    self.finished = true;
                    return Some(RadiotapField::Unknown { bit: 32 * self.words_before + number });
                }
            };
            self.finished = field.is_none();
            return Some(field.unwrap_or(RadiotapField::Damaged));
        }
        None
    }
}
