//! TUN devices of all nodes.

use super::Monotonic;
use crate::{DeviceIo, RealClock};
use multihop_core::{NodeId, Span};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::hint::spin_loop;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use tun_rs::SyncDevice;

/// Shortest sleep; below this, busy waiting takes less processor time.
const MIN_SLEEP: Span = Span::from_us(10);

/// Maximum number of devices that one wait reports as readable.
const MAX_EVENTS: usize = 64;

/// One device per node.
pub struct Devices {
    by_node: Vec<SyncDevice>,
    /// Epoll instance of all devices, so that the cost of a wait does not depend on their number.
    watch: OwnedFd,
    /// Readable devices, in the order of reading.
    ready: VecDeque<usize>,
    removed: Vec<NodeId>,
}

impl Devices {
    /// Devices in the order of nodes.
    ///
    /// # Errors
    /// If the kernel cannot watch them, or is older than Linux 5.11.
    pub fn new(devices: Vec<SyncDevice>) -> io::Result<Devices> {
        let watch = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (index, device) in devices.iter().enumerate() {
            epoll::add(&watch, device, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
        }
        let mut devices = Devices { by_node: devices, watch, ready: VecDeque::new(), removed: Vec::new() };
        devices.wait(Span::ZERO).map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::NOSYS) => io::Error::other("Linux 5.11 or newer is needed"),
            _ => error,
        })?;
        Ok(devices)
    }

    /// Nodes whose device a program has removed; it is no longer read or written.
    pub fn removed(&self) -> &[NodeId] {
        &self.removed
    }

    /// Finds readable devices, and waits for one, at most `at_most`.
    fn poll_devices(&mut self, at_most: Span) -> Result<(), Errno> {
        let (tv_sec, tv_nsec) =
            ((at_most.ns() / 1_000_000_000) as i64, (at_most.ns() % 1_000_000_000) as i64);
        let mut found = [MaybeUninit::<epoll::Event>::uninit(); MAX_EVENTS];
        let (events, _) = epoll::wait(&self.watch, &mut found, Some(&Timespec { tv_sec, tv_nsec }))?;
        self.ready.extend(events.iter().map(|event| event.data.u64() as usize));
        Ok(())
    }
}

impl DeviceIo for Devices {
    fn wait(&mut self, at_most: Span) -> io::Result<()> {
        // Devices with more packets are found again, after those that were not read yet.
        self.ready.clear();
        let at_most = if at_most < MIN_SLEEP {
            busy_wait(at_most);
            Span::ZERO
        } else {
            at_most
        };
        match self.poll_devices(at_most) {
            // A process returns from a suspension with this error. Packets that arrived meanwhile must be
            // found by this wait, not by the next one.
            Err(Errno::INTR) => match self.poll_devices(Span::ZERO) {
                Err(Errno::INTR) => Ok(()),
                result => Ok(result?),
            },
            result => Ok(result?),
        }
    }

    /// Reads one packet of each readable device in turn, so that no device waits for another's flood, until
    /// all are empty. One empty read costs less than another wait per packet.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(NodeId, usize)>> {
        while let Some(index) = self.ready.pop_front() {
            match self.by_node[index].recv(buffer) {
                Ok(length) => {
                    self.ready.push_back(index);
                    return Ok(Some((NodeId(index as u32), length)));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => self.ready.push_back(index),
                Err(error) if Errno::from_io_error(&error) == Some(Errno::BADFD) => {
                    // The device would be reported as readable again and again.
                    epoll::delete(&self.watch, &self.by_node[index])?;
                    self.removed.push(NodeId(index as u32));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn write(&mut self, node: NodeId, packet: &[u8]) -> bool {
        self.by_node[node.index()].send(packet).is_ok()
    }
}

fn busy_wait(span: Span) {
    let mut clock = Monotonic::default();
    while clock.elapsed() < span {
        spin_loop();
    }
}
