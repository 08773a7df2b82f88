//! Who can talk to whom: the graph of links that work both ways, since data needs its acknowledgement.

use crate::config::{MatrixLink, MatrixQuantity, MediumModel, NodeConfig, PathLoss};
use multihop_core::Rate;
use multihop_dot11::{Phy, bit_success_ln, frame_success};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A measured link that delivers less than this is no link.
const DELIVERY_MIN: f64 = 0.05;

/// Where there is an error rate by SINR, a link delivers at least half of the frames of this size.
const FRAME_BYTES: u32 = 1000;

/// Nobody talks further than this, in metres.
const DISTANCE_MAX: f64 = 1e7;

/// Hops to a node that cannot be reached.
pub(super) const UNREACHABLE: u32 = u32::MAX;

/// The graph of two-way links.
pub(super) enum Reach {
    /// All pairs up to a distance.
    Within {
        /// Positions in metres.
        positions: Vec<[f64; 2]>,
        /// The distance.
        radius: f64,
    },
    /// The neighbours of each node.
    Listed(Vec<Vec<u32>>),
}

/// Nodes that a search has not found yet.
enum Unseen<'a> {
    /// By square cells as wide as the radius, so that only nine cells can hold neighbours.
    Cells { positions: &'a [[f64; 2]], radius: f64, cells: BTreeMap<(i64, i64), Vec<u32>> },
    /// With the lists to follow.
    Flags { neighbours: &'a [Vec<u32>], unseen: Vec<bool> },
}

impl Reach {
    /// The graph of all pairs up to a distance.
    pub(super) fn within(positions: Vec<[f64; 2]>, radius: f64) -> Reach {
        Reach::Within { positions, radius }
    }

    /// The graph of a scenario. Nodes have positions if the medium needs them.
    pub(super) fn new(nodes: &[NodeConfig], medium: &MediumModel, phy: &Phy, data_rate: Rate) -> Reach {
        match (decodable_distance(medium, phy, data_rate), medium) {
            (None, MediumModel::Matrix { links, quantity }) => {
                Reach::Listed(two_way(nodes.len(), links, |value| match quantity {
                    MatrixQuantity::Delivery { .. } => value >= DELIVERY_MIN,
                    MatrixQuantity::Rssi { noise_mw, .. } => {
                        decodable(phy, data_rate, 10f64.powf(value / 10.0) / noise_mw)
                    }
                }))
            }
            (radius, _) => {
                let positions = nodes.iter().map(|node| node.position.unwrap_or_default()).collect();
                Reach::Within { positions, radius: radius.unwrap_or_default() }
            }
        }
    }

    /// The component of each node, numbered from 0 in the order of their first nodes.
    pub(super) fn components(&self) -> Vec<u32> {
        let nodes = self.nodes();
        let mut component = vec![UNREACHABLE; nodes];
        let mut unseen = self.unseen();
        let mut components = 0;
        for first in 0..nodes {
            if component[first] == UNREACHABLE {
                self.search(first, &mut unseen, |node, _| component[node as usize] = components);
                components += 1;
            }
        }
        component
    }

    /// The fewest hops from a node to each node.
    pub(super) fn hops_from(&self, node: usize) -> Vec<u32> {
        let mut hops = vec![UNREACHABLE; self.nodes()];
        self.search(node, &mut self.unseen(), |node, distance| hops[node as usize] = distance);
        hops
    }

    fn nodes(&self) -> usize {
        match self {
            Reach::Within { positions, .. } => positions.len(),
            Reach::Listed(neighbours) => neighbours.len(),
        }
    }

    fn unseen(&self) -> Unseen<'_> {
        match self {
            Reach::Within { positions, radius } => {
                let mut cells: BTreeMap<(i64, i64), Vec<u32>> = BTreeMap::new();
                for (i, position) in positions.iter().enumerate() {
                    cells.entry(cell(*position, *radius)).or_default().push(i as u32);
                }
                Unseen::Cells { positions, radius: *radius, cells }
            }
            Reach::Listed(neighbours) => Unseen::Flags { neighbours, unseen: vec![true; neighbours.len()] },
        }
    }

    /// Breadth first from `first`: `found` is told every node and its hops.
    fn search(&self, first: usize, unseen: &mut Unseen<'_>, mut found: impl FnMut(u32, u32)) {
        let first = first as u32;
        unseen.remove(first);
        found(first, 0);
        let mut queue = VecDeque::from([(first, 0)]);
        while let Some((node, hops)) = queue.pop_front() {
            unseen.take_neighbours(node, |neighbour| {
                found(neighbour, hops + 1);
                queue.push_back((neighbour, hops + 1));
            });
        }
    }
}

impl Unseen<'_> {
    fn remove(&mut self, node: u32) {
        match self {
            Unseen::Cells { positions, radius, cells } => {
                if let Some(nodes) = cells.get_mut(&cell(positions[node as usize], *radius)) {
                    nodes.retain(|other| *other != node);
                }
            }
            Unseen::Flags { unseen, .. } => unseen[node as usize] = false,
        }
    }

    /// Removes and reports the unseen neighbours of a node.
    fn take_neighbours(&mut self, node: u32, mut found: impl FnMut(u32)) {
        match self {
            Unseen::Cells { positions, radius, cells } => {
                let here = positions[node as usize];
                let (column, row) = cell(here, *radius);
                for around in (-1..=1).flat_map(|x| (-1..=1).map(move |y| (column + x, row + y))) {
                    let Some(nodes) = cells.get_mut(&around) else { continue };
                    nodes.retain(|other| {
                        let [x, y] = positions[*other as usize];
                        let near = (x - here[0]).hypot(y - here[1]) <= *radius;
                        if near {
                            found(*other);
                        }
                        !near
                    });
                }
            }
            Unseen::Flags { neighbours, unseen } => {
                for &neighbour in &neighbours[node as usize] {
                    if std::mem::take(&mut unseen[neighbour as usize]) {
                        found(neighbour);
                    }
                }
            }
        }
    }
}

/// Up to which distance nodes can talk to each other; none where distance does not decide.
pub(super) fn decodable_distance(medium: &MediumModel, phy: &Phy, data_rate: Rate) -> Option<f64> {
    match medium {
        MediumModel::Ranges { receive_range, .. } => Some(*receive_range),
        MediumModel::Sinr { transmit_power_mw, noise_mw, path_loss, .. } => {
            let decodable_at = |distance| {
                decodable(phy, data_rate, transmit_power_mw * path_gain(path_loss, distance) / noise_mw)
            };
            let (mut near, mut far) = (0.0, DISTANCE_MAX);
            for _ in 0..64 {
                let middle = f64::midpoint(near, far); // power falls with distance, so bisection finds the edge
                if decodable_at(middle) { near = middle } else { far = middle }
            }
            Some(near)
        }
        MediumModel::Matrix { .. } => None,
    }
}

/// Whether most frames survive this ratio of signal to noise.
fn decodable(phy: &Phy, rate: Rate, signal_to_noise: f64) -> bool {
    phy.modulation(rate).is_some_and(|modulation| {
        frame_success(bit_success_ln(modulation, signal_to_noise), FRAME_BYTES) >= 0.5
    })
}

/// Received over transmitted power, at most 1.
fn path_gain(path_loss: &PathLoss, distance: f64) -> f64 {
    const LIGHT_SPEED: f64 = 299_792_458.0; // m/s
    let gain = match *path_loss {
        PathLoss::TwoRayGround { frequency_hz, antenna_height } => {
            let wave = LIGHT_SPEED / frequency_hz;
            let cross_over = 4.0 * std::f64::consts::PI * antenna_height * antenna_height / wave;
            if distance < cross_over {
                (wave / (4.0 * std::f64::consts::PI * distance)).powi(2)
            } else {
                (antenna_height / distance).powi(2).powi(2)
            }
        }
        PathLoss::LogDistance { exponent, reference_loss_db, reference_distance } => {
            10f64.powf(-reference_loss_db / 10.0)
                * (distance.max(reference_distance) / reference_distance).powf(-exponent)
        }
    };
    gain.min(1.0)
}

fn cell(position: [f64; 2], radius: f64) -> (i64, i64) {
    let width = radius.max(1e-3); // a radius of zero must not divide
    ((position[0] / width).floor() as i64, (position[1] / width).floor() as i64)
}

/// Neighbours by measured links that work in both directions.
fn two_way(nodes: usize, links: &[MatrixLink], works: impl Fn(f64) -> bool) -> Vec<Vec<u32>> {
    let working: BTreeSet<(u32, u32)> =
        links.iter().filter(|link| works(link.value)).map(|link| (link.from.0, link.to.0)).collect();
    let mut neighbours = vec![Vec::new(); nodes];
    for &(from, to) in &working {
        if working.contains(&(to, from)) {
            neighbours[from as usize].push(to);
        }
    }
    neighbours
}

#[cfg(test)]
mod tests {
    use super::*;
    use multihop_core::NodeId;
    use multihop_dot11::{Preamble, Standard};

    fn phy() -> Phy {
        Phy::new(Standard::Dot11b, Preamble::Long)
    }

    #[test]
    fn hops_are_counted_over_short_links() {
        let line = Reach::within((0..5).map(|i| [f64::from(i) * 100.0, 0.0]).collect(), 100.0);
        assert_eq!(line.hops_from(1), [1, 0, 1, 2, 3]);
        let longer = Reach::within((0..5).map(|i| [f64::from(i) * 100.0, 0.0]).collect(), 250.0);
        assert_eq!(longer.hops_from(0), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn components_are_numbered_by_their_first_nodes() {
        let apart = Reach::within(vec![[0.0, 0.0], [500.0, 0.0], [90.0, 0.0], [590.0, 0.0]], 100.0);
        assert_eq!(apart.components(), [0, 1, 0, 1]);
    }

    #[test]
    fn a_search_by_cells_agrees_with_all_pairs() {
        let mut rng = multihop_core::Rng::at(5, &["reach"]);
        let positions: Vec<[f64; 2]> =
            (0..120).map(|_| [rng.unit() * 1000.0 - 500.0, rng.unit() * 1000.0]).collect();
        let distance = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let listed = (0..120)
            .map(|i| {
                (0..120u32).filter(|j| distance(&positions[i], &positions[*j as usize]) <= 130.0).collect()
            })
            .collect();
        let (cells, lists) = (Reach::within(positions, 130.0), Reach::Listed(listed));
        assert_eq!(cells.components(), lists.components());
        assert_eq!(cells.hops_from(7), lists.hops_from(7));
    }

    #[test]
    fn a_measured_link_must_work_both_ways() {
        let link = |from, to, value| MatrixLink { from: NodeId(from), to: NodeId(to), value };
        let links = vec![link(0, 1, 0.9), link(1, 0, 0.8), link(1, 2, 0.9), link(2, 1, 0.01)];
        let medium = MediumModel::Matrix { links, quantity: MatrixQuantity::Delivery { probe_size: 1500 } };
        let node = NodeConfig { name: String::new(), position: None };
        let reach = Reach::new(&[node.clone(), node.clone(), node], &medium, &phy(), Rate::from_kbps(11_000));
        assert_eq!(reach.components(), [0, 0, 1]);
    }

    #[test]
    fn slower_frames_reach_further() {
        let medium = MediumModel::Sinr {
            transmit_power_mw: 100.0,
            noise_mw: 10f64.powf(-9.5),
            carrier_sense_mw: 10f64.powf(-8.2),
            path_loss: PathLoss::LogDistance {
                exponent: 3.0,
                reference_loss_db: 40.0,
                reference_distance: 1.0,
            },
        };
        let at = |kbps| decodable_distance(&medium, &phy(), Rate::from_kbps(kbps)).unwrap();
        let (fast, slow) = (at(11_000), at(1_000));
        // 75 dB of link budget less some dB of signal to noise, over a third power.
        assert!(
            fast > 100.0 && slow > 1.2 * fast && slow < 320.0 * 1.8,
            "{fast} m at 11 Mb/s, {slow} m at 1 Mb/s"
        );
    }
}
