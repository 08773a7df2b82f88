//! Name of a network: the SSID (9.4.2.2) or the mesh ID (9.4.2.98) of a beacon or a probe response.

/// Maximum length of an SSID and of a mesh ID.
const MAX_LENGTH: usize = 32;

/// Bytes before the first element: timestamp, beacon interval, capabilities (9.3.3.2, 9.3.3.10).
const FIXED: usize = 12;

/// Element identifiers (Table 9-92).
const SSID: u8 = 0;
const MESH_ID: u8 = 114;

/// Name of a network, of 1 to 32 bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NetworkName {
    length: u8,
    bytes: [u8; MAX_LENGTH],
}

impl NetworkName {
    /// Returns the name of these bytes; none if there are no bytes, more than 32, or only zeros, as a network
    /// that hides its name sends.
    pub fn new(name: &[u8]) -> Option<NetworkName> {
        let hidden = name.iter().all(|&byte| byte == 0);
        let mut bytes = [0; MAX_LENGTH];
        bytes.get_mut(..name.len())?.copy_from_slice(name);
        (!hidden).then_some(NetworkName { length: name.len() as u8, bytes })
    }

    /// Returns the bytes of the name, which need not be UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Reads the body of a beacon or a probe response. Stations of a mesh send an empty SSID and a mesh ID.
pub(super) fn read(body: &[u8]) -> Option<NetworkName> {
    let mut elements = body.get(FIXED..)?;
    while let [id, length, rest @ ..] = elements {
        let (value, next) = rest.split_at_checked(usize::from(*length))?;
        if matches!(*id, SSID | MESH_ID)
            && let Some(name) = NetworkName::new(value)
        {
            return Some(name);
        }
        elements = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(elements: &[(u8, &[u8])]) -> Vec<u8> {
        let mut body = vec![7; FIXED];
        for (id, value) in elements {
            body.extend([*id, value.len() as u8]);
            body.extend(*value);
        }
        body
    }

    fn name(elements: &[(u8, &[u8])]) -> Option<Vec<u8>> {
        read(&body(elements)).map(|name| name.as_bytes().to_vec())
    }

    #[test]
    fn the_ssid_or_of_a_mesh_the_mesh_id() {
        assert_eq!(name(&[(SSID, b"caf\xc3\xa9"), (1, &[0x82])]), Some(b"caf\xc3\xa9".to_vec()));
        assert_eq!(name(&[(SSID, b""), (1, &[0x82]), (MESH_ID, b"village")]), Some(b"village".to_vec()));
        assert_eq!(name(&[(SSID, &[b'x'; MAX_LENGTH])]), Some(vec![b'x'; MAX_LENGTH]));
    }

    #[test]
    fn no_name_of_a_hidden_network_a_damaged_element_or_a_cut_body() {
        assert_eq!(name(&[(SSID, &[0; 8])]), None);
        assert_eq!(name(&[(SSID, &[b'x'; MAX_LENGTH + 1])]), None);
        let whole = body(&[(SSID, b"home")]);
        for cut in 0..whole.len() {
            assert_eq!(read(&whole[..cut]), None);
        }
    }
}
