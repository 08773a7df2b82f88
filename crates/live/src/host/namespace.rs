//! Network and host-name namespaces of a node, which exist as long as a handle to them is open.

use crate::emulation::{Mode, address};
use crate::ethernet::hardware_address;
use multihop_core::NodeId;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};
use nix::unistd::sethostname;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::thread;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// Name of a node's device.
pub const DEVICE: &str = "air0";
/// Prefix length of node addresses.
const PREFIX: u8 = 8;

/// Settings when the run routes.
const SETTINGS_OF_IP: &[(&str, &str)] = &[("ipv6/conf/all/disable_ipv6", "1")];
/// Additional settings of the gateway, which forwards, and answers for all nodes on the outside link.
const SETTINGS_OF_GATEWAY: &[(&str, &str)] =
    &[("ipv4/ip_forward", "1"), ("ipv4/conf/all/send_redirects", "0"), ("ipv4/conf/default/proxy_arp", "1")];
/// Settings when programs route. Neighbours of neighbours are on the same device but need a relay, so that
/// redirects are off.
const SETTINGS_OF_ETHERNET: &[(&str, &str)] = &[
    ("ipv4/ip_forward", "1"),
    ("ipv6/conf/all/forwarding", "1"),
    ("ipv4/conf/all/send_redirects", "0"),
    ("ipv4/conf/default/send_redirects", "0"),
    ("ipv4/conf/all/accept_redirects", "0"),
    ("ipv4/conf/default/accept_redirects", "0"),
];

/// Network and host-name namespaces.
pub struct Namespace {
    network: File,
    host_name: File,
    /// Table of devices and their counters in this network, whichever thread reads it.
    devices: File,
}

/// Common options of all node devices.
#[derive(Clone, Copy)]
pub struct DeviceOptions {
    /// Layer of routing.
    pub mode: Mode,
    /// Maximum packet size in bytes.
    pub mtu: u16,
    /// Node that leads to other networks.
    pub gateway: Option<NodeId>,
}

impl Namespace {
    /// Namespaces of this thread.
    ///
    /// # Errors
    /// If `/proc` does not exist.
    pub fn current() -> io::Result<Namespace> {
        Ok(Namespace {
            network: File::open("/proc/thread-self/ns/net")?,
            host_name: File::open("/proc/thread-self/ns/uts")?,
            devices: File::open("/proc/thread-self/net/dev")?,
        })
    }

    /// Creates namespaces for a node, with its name as host name, a loopback, and a device with the node's
    /// address. The device carries IP, without IPv6, or Ethernet, and then the node forwards. A gateway
    /// forwards, and in IP mode the other nodes have a default route over the air.
    ///
    /// # Errors
    /// If the kernel does not allow this, or has no TUN devices.
    pub fn for_node(node: NodeId, name: &str, links: DeviceOptions) -> io::Result<(Namespace, SyncDevice)> {
        let DeviceOptions { mode, mtu, gateway } = links;
        let name = name.to_owned();
        // In a thread, as namespaces belong to threads.
        in_thread(move || {
            unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWUTS)?;
            // A name that is too long for a host name is not set.
            let _ = sethostname(name);
            let device = DeviceBuilder::new().name(DEVICE);
            let (settings, device) = match mode {
                Mode::Ip => (SETTINGS_OF_IP, device.layer(Layer::L3)),
                Mode::Ethernet => {
                    (SETTINGS_OF_ETHERNET, device.layer(Layer::L2).mac_addr(hardware_address(node)))
                }
            };
            let of_gateway = if gateway == Some(node) { SETTINGS_OF_GATEWAY } else { &[] };
            for (name, value) in settings.iter().chain(of_gateway) {
                // A kernel without this setting needs no change.
                let _ = fs::write(format!("/proc/sys/net/{name}"), value);
            }
            raise_loopback()?;
            let device = device.ipv4(Ipv4Addr::from(address(node)), PREFIX, None).mtu(mtu).build_sync()?;
            device.set_nonblocking(true)?;
            if mode == Mode::Ip && gateway.is_some_and(|gateway| gateway != node) {
                add_default_route(device.if_index()?)?;
            }
            Ok((Namespace::current()?, device))
        })
    }

    /// Moves this thread, and everything it starts from now on, into the namespaces.
    ///
    /// # Errors
    /// If the kernel does not allow this.
    pub fn enter(&self) -> io::Result<()> {
        setns(&self.network, CloneFlags::CLONE_NEWNET)?;
        Ok(setns(&self.host_name, CloneFlags::CLONE_NEWUTS)?)
    }

    /// Number of packets that the device dropped before they were read; zero if the device no longer exists.
    ///
    /// # Errors
    /// If the table of devices cannot be read.
    pub fn overflowed(&self) -> io::Result<u64> {
        let (mut devices, mut table) = (&self.devices, String::new());
        devices.rewind()?;
        devices.read_to_string(&mut table)?;
        Ok(sent_and_dropped(&table).unwrap_or(0))
    }
}

fn in_thread<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    thread::spawn(work).join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
}

/// Number of dropped outgoing packets: the fourth of the second eight columns.
fn sent_and_dropped(table: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    line.split_whitespace().nth(11)?.parse().ok()
}

/// Sets the loopback up: `RTM_NEWLINK` (rtnetlink(7)) for interface 1, which only changes the flag `IFF_UP`.
fn raise_loopback() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const UP: u32 = 1;
    let mut body = vec![0; 4]; // family, type
    body.extend(1_i32.to_ne_bytes());
    body.extend(UP.to_ne_bytes());
    body.extend(UP.to_ne_bytes()); // mask of flags to change
    request_netlink(NEW_LINK, 0, &body)
}

/// Adds a default route to a device: `RTM_NEWROUTE`, without a gateway.
fn add_default_route(device: u32) -> io::Result<()> {
    const NEW_ROUTE: u16 = 24;
    const CREATE: u16 = 0x400;
    const INET: u8 = 2;
    const MAIN_TABLE: u8 = 254;
    const BY_BOOT: u8 = 3;
    const ON_LINK: u8 = 253;
    const UNICAST: u8 = 1;
    const OUTPUT_DEVICE: u16 = 4;
    // Family; lengths of destination and source, both 0 for the default route; type of service.
    let mut body = vec![INET, 0, 0, 0, MAIN_TABLE, BY_BOOT, ON_LINK, UNICAST];
    body.extend([0; 4]); // flags
    body.extend(8_u16.to_ne_bytes());
    body.extend(OUTPUT_DEVICE.to_ne_bytes());
    body.extend(device.to_ne_bytes());
    request_netlink(NEW_ROUTE, CREATE, &body)
}

/// Sends a request of rtnetlink(7), and waits for the kernel's result.
fn request_netlink(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    const HEADER: usize = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend(((HEADER + body.len()) as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((flags | REQUEST_AND_ACKNOWLEDGE).to_ne_bytes());
    message.extend([0; 8]); // sequence number, sender
    message.extend(body);
    let to = SockProtocol::NetlinkRoute;
    let kernel = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, to)?;
    sendto(kernel.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    let mut answer = [0; 64];
    recv(kernel.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    match i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drops_of_a_device_are_in_its_line() {
        let table = "Inter-|   Receive |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes\n\
                     \x20   lo:  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n\
                     \x20 air0: 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\n";
        assert_eq!(sent_and_dropped(table), Some(32));
        assert_eq!(sent_and_dropped("  lo: 1 2 3"), None);
    }
}
