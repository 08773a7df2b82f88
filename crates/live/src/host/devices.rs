//! The TUN devices of all nodes.

use crate::Wire;
use multihop_core::{NodeId, Span};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::time::Duration;
use tun_rs::SyncDevice;

/// To sleep for less than this takes more of the processor than to look again and again.
const NAP: Span = Span::from_us(10);

/// How many devices are found readable at once.
const AT_ONCE: usize = 64;

/// A device for each node.
pub struct Devices {
    of_nodes: Vec<SyncDevice>,
    /// All of them, so that a wait costs the same however many there are.
    watch: Epoll,
    /// Those that may have something to read, in the order in which they are read.
    ready: VecDeque<usize>,
}

impl Devices {
    /// Devices in the order of nodes.
    ///
    /// # Errors
    /// If the kernel does not watch them.
    pub fn new(devices: Vec<SyncDevice>) -> io::Result<Devices> {
        let watch = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (index, device) in devices.iter().enumerate() {
            watch.add(device, EpollEvent::new(EpollFlags::EPOLLIN, index as u64))?;
        }
        Ok(Devices { of_nodes: devices, watch, ready: VecDeque::new() })
    }
}

impl Wire for Devices {
    fn wait(&mut self, at_most: Span) -> io::Result<()> {
        // Those that still have something are found again, behind those that were not looked at.
        self.ready.clear();
        let at_most = if at_most < NAP { Span::ZERO } else { at_most };
        let at_most = TimeSpec::from_duration(Duration::from_nanos(at_most.ns()));
        // What epoll itself can wait for is milliseconds.
        match ppoll(&mut [PollFd::new(self.watch.0.as_fd(), PollFlags::POLLIN)], Some(at_most), None) {
            Ok(0) | Err(Errno::EINTR) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut found = [EpollEvent::empty(); AT_ONCE];
        let count = match self.watch.wait(&mut found, EpollTimeout::ZERO) {
            Err(Errno::EINTR) => 0,
            done => done?,
        };
        self.ready.extend(found[..count].iter().map(|event| event.data() as usize));
        Ok(())
    }

    /// One packet of each in turn, so that none has to wait for another's flood.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(NodeId, usize)>> {
        while let Some(index) = self.ready.pop_front() {
            match self.of_nodes[index].recv(buffer) {
                Ok(length) => {
                    self.ready.push_back(index);
                    return Ok(Some((NodeId(index as u32), length)));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => self.ready.push_back(index),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn write(&mut self, node: NodeId, packet: &[u8]) -> bool {
        self.of_nodes[node.index()].send(packet).is_ok()
    }
}
