//! Description of a routing protocol's messages, for dissectors and the reference.

use multihop_core::{Carrier, Layout};

/// Wire format of a routing protocol's messages, for dissectors and the reference.
#[derive(Clone, Copy, Debug)]
pub struct WireFormat {
    /// Carrier of the messages.
    pub carrier: Carrier,
    /// Layouts of the headers in the messages.
    pub layouts: &'static [Layout],
    /// Whether Wireshark has a dissector for them.
    pub in_wireshark: bool,
}
