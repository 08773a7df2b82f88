//! Captures built by hand.

/// Address of the sender.
pub const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Address of the receiver.
pub const B: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// Airtimes with a long preamble: RTS of 20 bytes and CTS and ACK of 14 at 1 Mb/s, DATA of 36 + 1500 at 11
/// Mb/s.
pub const RTS: u64 = 192 + 160;
pub const CTS: u64 = 192 + 112;
pub const DATA: u64 = 192 + 1118;
/// SIFS in microseconds.
pub const SIFS: u64 = 10;

/// Frame with its time on the air, in microseconds.
pub struct TimedFrame {
    /// Bytes of the frame.
    pub bytes: Vec<u8>,
    /// Rate in units of 500 kb/s.
    pub rate: u8,
    /// Start of the frame.
    pub begin: u64,
    /// End of the frame.
    pub end: u64,
}

fn control(subtype: u8, duration: u16, to: [u8; 6], from: Option<[u8; 6]>) -> Vec<u8> {
    let mut bytes = vec![subtype << 4 | 0b0100, 0];
    bytes.extend(duration.to_le_bytes());
    bytes.extend(to);
    bytes.extend(from.unwrap_or_default().iter().take(if from.is_some() { 6 } else { 0 }));
    bytes
}

fn data(sequence: u16, retry: bool) -> Vec<u8> {
    let mut bytes = vec![0b1000, u8::from(retry) << 3];
    bytes.extend(314_u16.to_le_bytes());
    bytes.extend(B);
    bytes.extend(A);
    bytes.extend([0xff; 6]);
    bytes.extend((sequence << 4).to_le_bytes());
    bytes.resize(24 + 8 + 1500, 0);
    bytes
}

/// An exchange that begins at `start`, without the frames whose indices are in `missed`.
pub fn exchange(start: u64, sequence: u16, missed: &[usize]) -> Vec<TimedFrame> {
    let frames = [
        (control(11, 1_947, B, Some(A)), 2, RTS),
        (control(12, 1_633, A, None), 2, CTS),
        (data(sequence, false), 22, DATA),
        (control(13, 0, A, None), 2, CTS),
    ];
    let mut at = start;
    let mut sent = Vec::new();
    for (number, (bytes, rate, length)) in frames.into_iter().enumerate() {
        if !missed.contains(&number) {
            sent.push(TimedFrame { bytes, rate, begin: at, end: at + length });
        }
        at += length + SIFS;
    }
    sent
}

/// A pcap file of these frames, with radiotap headers that give the rate. `stamp` gives the timestamp of a
/// frame.
pub fn file(frames: &[TimedFrame], stamp: impl Fn(&TimedFrame) -> u64) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 127] {
        file.extend(word.to_le_bytes());
    }
    for frame in frames {
        let at = stamp(frame);
        let length = u32::try_from(9 + frame.bytes.len()).unwrap();
        let (seconds, us) = (1_000 + at / 1_000_000, at % 1_000_000);
        for word in [u32::try_from(seconds).unwrap(), u32::try_from(us).unwrap(), length, length] {
            file.extend(word.to_le_bytes());
        }
        // Version, pad, length 9, present: rate.
        file.extend([0, 0, 9, 0, 4, 0, 0, 0, frame.rate]);
        file.extend(&frame.bytes);
    }
    file
}
