//! The layout of radiotap: which fields are there, and where.

use crate::bytes::{Order, array, bit};

/// Size and alignment of the fields that radiotap.org defines, by their bit.
///
/// Fields are aligned relative to the beginning of the header, to their largest member. Bits 28 to 31 have
/// meanings of their own.
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

/// Fields of a type and a length each (TLV) follow behind all others of the word.
const TYPE_LENGTH_VALUE: u32 = 28;
const RADIOTAP_NAMESPACE: u32 = 29;
const VENDOR_NAMESPACE: u32 = 30;
const ANOTHER_WORD: u32 = 31;

/// Where the words of presence bits begin.
const PRESENCE: usize = 4;

/// A field as it is in the header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Field<'h> {
    /// A field of radiotap's own.
    Known {
        /// Its bit.
        bit: u8,
        /// How often the bits began anew before it: fields of a later round are of one antenna each.
        round: u32,
        /// Its bytes, little-endian.
        bytes: &'h [u8],
    },
    /// What a vendor put in.
    Vendor {
        /// Its organizationally unique identifier.
        oui: [u8; 3],
        /// Which of its name spaces.
        subspace: u8,
        /// The bytes of all of its fields.
        bytes: &'h [u8],
    },
    /// A field that says its own type and length, as those of Wi-Fi 7 do.
    TypeLengthValue {
        /// Its type, which continues the numbers of the bits.
        kind: u16,
        /// Its bytes, little-endian.
        bytes: &'h [u8],
    },
    /// A bit without a known meaning, and so of unknown length: the fields behind it cannot be found. The
    /// frame can, by the length of the header. It is the last one.
    Unknown {
        /// Its number, counted over the words of one name space.
        bit: u32,
    },
    /// From here on nothing can be read: a field, or the presence bits, would lie beyond the end of the
    /// header. It is the last one.
    Damaged,
}

/// The fields of a header, in order. Made by [`super::fields`].
#[derive(Clone, Debug)]
pub struct Fields<'h> {
    header: &'h [u8],
    /// The next field begins here, or where its alignment puts it.
    at: usize,
    /// Where the presence word stands, and what is left of it.
    word_at: usize,
    word: u32,
    space: Space,
    round: u32,
    /// Words of this name space before the present one.
    words_before: u32,
    /// All that is left are fields of a type and a length.
    in_tlvs: bool,
    finished: bool,
}

/// Whose bits they are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Space {
    Radiotap,
    /// Bits after the 31 that are defined.
    Beyond,
    /// The vendor's fields have been passed already.
    Vendor,
}

impl<'h> Fields<'h> {
    /// `header` is the whole header and nothing else.
    pub(super) fn new(header: &'h [u8]) -> Fields<'h> {
        let mut at = PRESENCE;
        let mut word = Order::Little.u32(header, at);
        let first = word;
        while word.is_some_and(|word| bit(word, ANOTHER_WORD)) {
            at += 4;
            word = Order::Little.u32(header, at);
        }
        Fields {
            header,
            at: at + 4,
            word_at: PRESENCE,
            // If the words do not end within the header, a field beyond its end says so.
            word: if word.is_some() { first.unwrap_or_default() } else { 1 },
            space: Space::Radiotap,
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

    /// The vendor's name space: its identifier, how long its fields are, and the fields.
    fn vendor(&mut self) -> Option<Field<'h>> {
        let description = self.take(6, 2)?;
        let oui = array(description, 0)?;
        let bytes = self.take(usize::from(Order::Little.u16(description, 4)?), 1)?;
        Some(Field::Vendor { oui, subspace: description[3], bytes })
    }

    /// A field of radiotap's own.
    fn known(&mut self, number: u32) -> Option<Field<'h>> {
        let (size, alignment) = *FIELDS.get(number as usize)?;
        let bytes = self.take(usize::from(size), usize::from(alignment))?;
        Some(Field::Known { bit: number as u8, round: self.round, bytes })
    }

    /// The next field of a type and a length, which begins at a multiple of four bytes; none at the end.
    /// Fewer bytes than a type and a length need are padding.
    fn type_length_value(&mut self) -> Option<Field<'h>> {
        const HEAD: usize = 4;
        let start = self.at.next_multiple_of(4);
        let head = self.header.get(start..start + HEAD)?;
        let (kind, length) = (Order::Little.u16(head, 0)?, usize::from(Order::Little.u16(head, 2)?));
        let Some(bytes) = self.header.get(start + HEAD..start + HEAD + length) else {
            return Some(Field::Damaged);
        };
        self.at = start + HEAD + length;
        Some(Field::TypeLengthValue { kind, bytes })
    }

    /// Goes on to the next presence word, if there is one.
    fn next_word(&mut self) -> bool {
        let Some(word) = Order::Little.u32(self.header, self.word_at) else { return false };
        if !bit(word, ANOTHER_WORD) {
            return false;
        }
        self.words_before += 1;
        match (bit(word, RADIOTAP_NAMESPACE), bit(word, VENDOR_NAMESPACE)) {
            (true, _) => {
                self.space = Space::Radiotap;
                (self.round, self.words_before) = (self.round + 1, 0);
            }
            (false, true) => (self.space, self.words_before) = (Space::Vendor, 0),
            (false, false) if self.space == Space::Radiotap => self.space = Space::Beyond,
            (false, false) => {}
        }
        self.word_at += 4;
        self.word = Order::Little.u32(self.header, self.word_at).unwrap_or_default();
        true
    }
}

impl<'h> Iterator for Fields<'h> {
    type Item = Field<'h>;

    fn next(&mut self) -> Option<Field<'h>> {
        while !self.finished {
            if self.in_tlvs {
                let field = self.type_length_value();
                self.finished = matches!(field, None | Some(Field::Damaged));
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
                (RADIOTAP_NAMESPACE, _) | (_, Space::Vendor) => continue,
                (TYPE_LENGTH_VALUE, Space::Radiotap) => {
                    self.in_tlvs = true;
                    continue;
                }
                (_, Space::Radiotap) => self.known(number),
                (_, Space::Beyond) => {
                    self.finished = true;
                    return Some(Field::Unknown { bit: 32 * self.words_before + number });
                }
            };
            self.finished = field.is_none();
            return Some(field.unwrap_or(Field::Damaged));
        }
        None
    }
}
