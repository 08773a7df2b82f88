//! Fields of the kernel's Ethernet frames that a run needs (IEEE 802.3, clause 3).

use crate::datagram::Refusal;
use multihop_core::NodeId;

/// Length of destination, source and type.
pub const HEADER: usize = 14;

/// Hardware address of a node's device, locally administered, as in captures.
pub fn hardware_address(node: NodeId) -> [u8; 6] {
    let [a, b, c, d] = node.0.to_be_bytes();
    [0x02, 0, a, b, c, d]
}

/// Destination of a frame of node `from`: one node, or none for broadcasts and multicasts.
///
/// # Errors
/// If the frame is too short, has another source, or is addressed to none of the `nodes` nodes.
pub fn destination(frame: &[u8], from: NodeId, nodes: usize) -> Result<Option<NodeId>, Refusal> {
    let (Some(to), Some(source)) = (frame.first_chunk::<6>(), frame.get(6..12)) else {
        return Err(Refusal::Malformed);
    };
    if frame.len() < HEADER {
        return Err(Refusal::Malformed);
    }
    if source != hardware_address(from) {
        return Err(Refusal::ForeignSource);
    }
    if to[0] & 1 == 1 {
        return Ok(None);
    }
    let node = NodeId(u32::from_be_bytes([to[2], to[3], to[4], to[5]]));
    let exists = node.index() < nodes && node != from && *to == hardware_address(node);
    exists.then_some(Some(node)).ok_or(Refusal::UnknownDestination)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: [u8; 6], from: u32) -> Vec<u8> {
        [&to[..], &hardware_address(NodeId(from)), &[0x08, 0x00], &[0; 46]].concat()
    }

    #[test]
    fn frames_go_to_nodes_to_everyone_or_nowhere() {
        let of = |to: [u8; 6]| destination(&frame(to, 1), NodeId(1), 3);
        assert_eq!(of(hardware_address(NodeId(2))), Ok(Some(NodeId(2))));
        assert_eq!(of([0xff; 6]), Ok(None));
        assert_eq!(of([0x33, 0x33, 0, 0, 0, 1]), Ok(None), "multicast of IPv6");
        for unknown in [hardware_address(NodeId(3)), hardware_address(NodeId(1)), [0x02, 1, 0, 0, 0, 2]] {
            assert_eq!(of(unknown), Err(Refusal::UnknownDestination));
        }
        assert_eq!(destination(&frame([0xff; 6], 2), NodeId(1), 3), Err(Refusal::ForeignSource));
        for length in 0..HEADER {
            let cut = &frame([0xff; 6], 1)[..length];
            assert_eq!(destination(cut, NodeId(1), 3), Err(Refusal::Malformed));
        }
    }
}
