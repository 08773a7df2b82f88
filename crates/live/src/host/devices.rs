//! The TUN devices of all nodes.

use super::Monotonic;
use crate::{Clock, Wire};
use multihop_core::{NodeId, Span};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::hint::spin_loop;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use tun_rs::SyncDevice;

/// To sleep for less than this takes more of the processor than to wait awake.
const NAP: Span = Span::from_us(10);

/// How many devices are found readable at once.
const AT_ONCE: usize = 64;

/// A device for each node.
pub struct Devices {
    of_nodes: Vec<SyncDevice>,
    /// All of them, so that a wait costs the same however many there are.
    watch: OwnedFd,
    /// Those that have something to read, in the order in which they are read.
    ready: VecDeque<usize>,
    removed: Vec<NodeId>,
}

impl Devices {
    /// Devices in the order of nodes.
    ///
    /// # Errors
    /// If the kernel does not watch them, or is older than Linux 5.11.
    pub fn new(devices: Vec<SyncDevice>) -> io::Result<Devices> {
        let watch = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (index, device) in devices.iter().enumerate() {
            epoll::add(&watch, device, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
        }
        let mut devices = Devices { of_nodes: devices, watch, ready: VecDeque::new(), removed: Vec::new() };
        devices.wait(Span::ZERO).map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::NOSYS) => io::Error::other("Linux 5.11 or newer is needed"),
            _ => error,
        })?;
        Ok(devices)
    }

    /// Nodes whose device a program has removed: nothing is read from it, and it takes nothing.
    pub fn removed(&self) -> &[NodeId] {
        &self.removed
    }

    /// Finds the devices that have something to read, and waits until there is one, but no longer than this.
    fn look(&mut self, at_most: Span) -> Result<(), Errno> {
        let (tv_sec, tv_nsec) =
            ((at_most.ns() / 1_000_000_000) as i64, (at_most.ns() % 1_000_000_000) as i64);
        let mut found = [MaybeUninit::<epoll::Event>::uninit(); AT_ONCE];
        let (events, _) = epoll::wait(&self.watch, &mut found, Some(&Timespec { tv_sec, tv_nsec }))?;
        self.ready.extend(events.iter().map(|event| event.data.u64() as usize));
        Ok(())
    }
}

impl Wire for Devices {
    fn wait(&mut self, at_most: Span) -> io::Result<()> {
        // Those that still have something are found again, behind those that were not looked at.
        self.ready.clear();
        let at_most = if at_most < NAP {
            stay_awake(at_most);
            Span::ZERO
        } else {
            at_most
        };
        match self.look(at_most) {
            // After it was suspended, a process returns with this error. What has come meanwhile is to be found by this wait, which
            // took so long, and not by the next.
            Err(Errno::INTR) => match self.look(Span::ZERO) {
                Err(Errno::INTR) => Ok(()),
                result => Ok(result?),
            },
            result => Ok(result?),
        }
    }

    /// One packet of each that was found in turn, so that none has to wait for another's flood, until none
    /// has more: to find that out costs less than to find the device once more for each packet.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(NodeId, usize)>> {
        while let Some(index) = self.ready.pop_front() {
            match self.of_nodes[index].recv(buffer) {
                Ok(length) => {
                    self.ready.push_back(index);
                    return Ok(Some((NodeId(index as u32), length)));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => self.ready.push_back(index),
                Err(error) if Errno::from_io_error(&error) == Some(Errno::BADFD) => {
                    // It would be found readable again and again.
                    epoll::delete(&self.watch, &self.of_nodes[index])?;
                    self.removed.push(NodeId(index as u32));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn write(&mut self, node: NodeId, packet: &[u8]) -> bool {
        self.of_nodes[node.index()].send(packet).is_ok()
    }
}

fn stay_awake(span: Span) {
    let mut clock = Monotonic::default();
    while clock.elapsed() < span {
        spin_loop();
    }
}
