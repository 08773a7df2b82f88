//! The TUN devices of all nodes.

use crate::Wire;
use multihop_core::{NodeId, Span};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::time::Duration;
use tun_rs::SyncDevice;

/// A device for each node.
pub struct Devices {
    devices: Vec<SyncDevice>,
    /// Those that have something to read.
    ready: Vec<usize>,
}

impl Devices {
    /// Devices in the order of nodes.
    pub fn new(devices: Vec<SyncDevice>) -> Devices {
        Devices { devices, ready: Vec::new() }
    }
}

impl Wire for Devices {
    fn wait(&mut self, at_most: Span) -> io::Result<()> {
        let mut polled: Vec<PollFd> =
            self.devices.iter().map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN)).collect();
        let at_most = TimeSpec::from_duration(Duration::from_nanos(at_most.ns()));
        match ppoll(&mut polled, Some(at_most), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let readable = |poll: &PollFd| poll.any().unwrap_or(false);
        // From the last to the first, as they are taken from the end.
        self.ready.extend((0..polled.len()).rev().filter(|index| readable(&polled[*index])));
        Ok(())
    }

    /// One packet of each, so that none has to wait for another's flood.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<(NodeId, usize)>> {
        while let Some(index) = self.ready.pop() {
            match self.devices[index].recv(buffer) {
                Ok(length) => return Ok(Some((NodeId(index as u32), length))),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn write(&mut self, node: NodeId, packet: &[u8]) -> bool {
        self.devices[node.index()].send(packet).is_ok()
    }
}
