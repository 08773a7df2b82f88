//! Who can talk to whom: the graph of links that work both ways, since data needs its acknowledgement.

use super::document::Result;
use crate::config::{Config, MatrixQuantity, MediumModel, PathLoss};
use multihop_core::Rate;
use multihop_dot11::Phy;
use std::collections::{BTreeMap, VecDeque};

/// A measured link that delivers less than this is no link.
const DELIVERY_MIN: f64 = 0.05;

/// Nobody talks further than this, in metres.
const DISTANCE_MAX: f64 = 1e7;

/// The graph of two-way links.
pub(super) enum Reach {
    /// All pairs up to a distance.
    Within { positions: Vec<[f64; 2]>, radius: f64 },
    /// The listed neighbours of each node.
    Listed(Vec<Vec<u32>>),
}
