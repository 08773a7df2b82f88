//! The network and the host name of a node: namespaces that live as long as a handle to them is open.

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

/// What nodes call their device.
pub const DEVICE: &str = "air0";
/// The mask of all nodes' addresses, in bits.
const PREFIX: u8 = 8;

/// The run routes.
const SETTINGS_OF_IP: &[(&str, &str)] = &[("ipv6/conf/all/disable_ipv6", "1")];
/// What the gateway has on top: it forwards, and answers for all nodes on the link that leads out.
const SETTINGS_OF_GATEWAY: &[(&str, &str)] =
    &[("ipv4/ip_forward", "1"), ("ipv4/conf/all/send_redirects", "0"), ("ipv4/conf/default/proxy_arp", "1")];
/// Programs route. Neighbours of neighbours are on the same device and still need a relay, so that no node
/// redirects another.
const SETTINGS_OF_ETHERNET: &[(&str, &str)] = &[
    ("ipv4/ip_forward", "1"),
    ("ipv6/conf/all/forwarding", "1"),
    ("ipv4/conf/all/send_redirects", "0"),
    ("ipv4/conf/default/send_redirects", "0"),
    ("ipv4/conf/all/accept_redirects", "0"),
    ("ipv4/conf/default/accept_redirects", "0"),
];

/// Namespaces of network and host name.
pub struct Namespace {
    network: File,
    host_name: File,
    /// The table of devices and their counters, of this network whoever reads it.
    devices: File,
}

/// What the devices of all nodes have in common.
#[derive(Clone, Copy)]
pub struct Links {
    /// What they carry.
    pub mode: Mode,
    /// Bytes of the longest packet that the kernel sends over them.
    pub mtu: u16,
    /// The node that leads to other networks.
    pub gateway: Option<NodeId>,
}

impl Namespace {
    /// The namespaces in which this thread is.
    ///
    /// # Errors
    /// If there is no `/proc`.
    pub fn current() -> io::Result<Namespace> {
        Ok(Namespace {
            network: File::open("/proc/thread-self/ns/net")?,
            host_name: File::open("/proc/thread-self/ns/uts")?,
            devices: File::open("/proc/thread-self/net/dev")?,
        })
    }

    /// New ones for a node, with its name as the host's, a loopback, and a device that has the node's
    /// address: one of IP, and IPv6 is off; or one of Ethernet, and the node forwards. If a gateway leads to
    /// other networks, it forwards, and with IP the default route of the others leads over the air.
    ///
    /// # Errors
    /// If the kernel does not allow that, or has no TUN devices.
    pub fn for_node(node: NodeId, name: &str, links: Links) -> io::Result<(Namespace, SyncDevice)> {
        let Links { mode, mtu, gateway } = links;
        let name = name.to_owned();
        // A thread, as namespaces belong to threads.
        in_thread(move || {
            unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWUTS)?;
            // A name that is too long for a host leaves the name of the machine.
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
                // Where the kernel has no such setting, there is nothing to set.
                let _ = fs::write(format!("/proc/sys/net/{name}"), value);
            }
            raise_loopback()?;
            let device = device.ipv4(Ipv4Addr::from(address(node)), PREFIX, None).mtu(mtu).build_sync()?;
            device.set_nonblocking(true)?;
            if mode == Mode::Ip && gateway.is_some_and(|gateway| gateway != node) {
                route_all_over(device.if_index()?)?;
            }
            Ok((Namespace::current()?, device))
        })
    }

    /// Puts this thread, and what it starts from now on, into the namespaces.
    ///
    /// # Errors
    /// If the kernel does not allow that.
    pub fn enter(&self) -> io::Result<()> {
        setns(&self.network, CloneFlags::CLONE_NEWNET)?;
        Ok(setns(&self.host_name, CloneFlags::CLONE_NEWUTS)?)
    }

    /// How many packets its device could not hold until they were read: none if it is gone.
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

/// The column of packets that were to be sent and were dropped: the fourth of the second eight.
fn sent_and_dropped(table: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    line.split_whitespace().nth(11)?.parse().ok()
}

/// Sets the loopback up: `RTM_NEWLINK` (rtnetlink(7)) for interface 1, with the flag `IFF_UP` set and the
/// others as they are.
fn raise_loopback() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const UP: u32 = 1;
    let mut body = vec![0; 4]; // family, type
    body.extend(1_i32.to_ne_bytes());
    body.extend(UP.to_ne_bytes());
    body.extend(UP.to_ne_bytes()); // which flags to change
    ask_netlink(NEW_LINK, 0, &body)
}

/// A default route to a device: `RTM_NEWROUTE`, without a gateway.
fn route_all_over(device: u32) -> io::Result<()> {
    const NEW_ROUTE: u16 = 24;
    const CREATE: u16 = 0x400;
    const INET: u8 = 2;
    const MAIN_TABLE: u8 = 254;
    const BY_BOOT: u8 = 3;
    const ON_LINK: u8 = 253;
    const UNICAST: u8 = 1;
    const OUTPUT_DEVICE: u16 = 4;
    // Family; lengths of destination and source, both 0: everything; type of service.
    let mut body = vec![INET, 0, 0, 0, MAIN_TABLE, BY_BOOT, ON_LINK, UNICAST];
    body.extend([0; 4]); // flags
    body.extend(8_u16.to_ne_bytes());
    body.extend(OUTPUT_DEVICE.to_ne_bytes());
    body.extend(device.to_ne_bytes());
    ask_netlink(NEW_ROUTE, CREATE, &body)
}

/// A request of rtnetlink(7), of which the kernel says how it went.
fn ask_netlink(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
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
