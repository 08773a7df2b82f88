//! Nodes that can reach each other over wires, and over radio links that are usable in both directions, since
//! data needs acknowledgements.
//!
//! [`routing`](multihop_sim::routing) decides which links are usable. If only distance decides, usable links
//! are those within a radius. The components of 100,000 nodes are then found without a list of links.

use multihop_core::NodeId;
use multihop_dot11::{ACK_BYTES, DataRate, frame_success};
use multihop_sim::config::{Config, MediumConfig, MediumModel, TopologyConfig, WireConfig};
use multihop_sim::preflight::{candidates, femtowatts};
use multihop_sim::routing::{LEAST_DELIVERY, LinkQuality, NOMINAL_BYTES};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Maximum length of a link in metres.
const DISTANCE_MAX: f64 = 1e7;

/// Component of a node that has not been found yet.
const NONE: u32 = u32::MAX;

/// Component of each node of a configuration, numbered from 0 in the order of their first nodes.
pub(crate) fn components(config: &Config) -> Vec<u32> {
    joined(&Reach::new(config).components(), &config.topology.wires)
}

/// Graph of two-way radio links.
pub(crate) enum Reach {
    /// All pairs up to a distance.
    Within {
        /// Positions in metres; none for nodes without a radio.
        positions: Vec<Option<[f64; 2]>>,
        /// Maximum distance in metres.
        radius: f64,
    },
    /// Neighbours of each node.
    Listed(Vec<Vec<u32>>),
}

/// Nodes that a search has not found yet.
enum Unseen<'a> {
    /// Nodes in square cells as wide as the radius, so that only nine cells can hold neighbours.
    Cells { positions: &'a [Option<[f64; 2]>], radius: f64, cells: BTreeMap<(i64, i64), Vec<u32>> },
    /// Flags of nodes, with the lists of neighbours.
    Flags { neighbours: &'a [Vec<u32>], unseen: Vec<bool> },
}

impl Reach {
    /// The graph of all pairs up to a distance.
    pub(crate) fn within(positions: Vec<[f64; 2]>, radius: f64) -> Reach {
        Reach::Within { positions: positions.into_iter().map(Some).collect(), radius }
    }

    /// Graph of a configuration.
    fn new(config: &Config) -> Reach {
        let TopologyConfig { nodes, radios, powers, .. } = &config.topology;
        let by_distance = nodes.iter().all(|node| node.base.is_none())
            && config.medium.link_errors.is_empty()
            && radios.are_one_each()
            && powers.is_empty();
        if let Some(radius) = radius(config).filter(|_| by_distance) {
            return Reach::Within { positions: nodes.iter().map(|node| node.position).collect(), radius };
        }
        let usable = LinkQuality::new(config).usable();
        let usable: BTreeSet<(NodeId, NodeId)> = usable.into_iter().map(|(from, to, _)| (from, to)).collect();
        let mut neighbours = vec![Vec::new(); nodes.len()];
        for (from, to) in usable.iter().filter(|(from, to)| usable.contains(&(*to, *from))) {
            neighbours[from.index()].push(to.0);
        }
        for (radio, node) in &radios.further {
            neighbours[radio.index()].push(node.0);
            neighbours[node.index()].push(radio.0);
        }
        Reach::Listed(neighbours)
    }

    /// Component of each node, numbered from 0 in the order of their first nodes.
    pub(crate) fn components(&self) -> Vec<u32> {
        let mut component = vec![NONE; self.nodes()];
        let mut unseen = self.unseen();
        let mut components = 0;
        for first in 0..component.len() {
            if component[first] != NONE {
                continue;
            }
            unseen.remove(first as u32);
            component[first] = components;
            let mut queue = VecDeque::from([first as u32]);
            while let Some(node) = queue.pop_front() {
                unseen.take_neighbours(node, |neighbour| {
                    component[neighbour as usize] = components;
                    queue.push_back(neighbour);
                });
            }
            components += 1;
        }
        component
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
                    if let Some(position) = position {
                        cells.entry(cell(*position, *radius)).or_default().push(i as u32);
                    }
                }
                Unseen::Cells { positions, radius: *radius, cells }
            }
            Reach::Listed(neighbours) => Unseen::Flags { neighbours, unseen: vec![true; neighbours.len()] },
        }
    }
}

impl Unseen<'_> {
    fn remove(&mut self, node: u32) {
        match self {
            Unseen::Cells { positions, radius, cells } => {
                let own = positions[node as usize].and_then(|here| cells.get_mut(&cell(here, *radius)));
                if let Some(nodes) = own {
                    nodes.retain(|other| *other != node);
                }
            }
            Unseen::Flags { unseen, .. } => unseen[node as usize] = false,
        }
    }

    /// Removes the unseen neighbours of a node, and reports each to `found`.
    fn take_neighbours(&mut self, node: u32, mut found: impl FnMut(u32)) {
        match self {
            Unseen::Cells { positions, radius, cells } => {
                let Some(here) = positions[node as usize] else { return };
                let (column, row) = cell(here, *radius);
                for around in (-1..=1).flat_map(|x| (-1..=1).map(move |y| (column + x, row + y))) {
                    let Some(nodes) = cells.get_mut(&around) else { continue };
                    nodes.retain(|other| {
                        let [x, y] =
                            positions[*other as usize].expect("only nodes with a position are in cells");
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

/// Components after those joined by wires are merged.
fn joined(components: &[u32], wires: &[WireConfig]) -> Vec<u32> {
    // Parent of each component, which is never a later component. The root represents all joined components.
    let mut parents: Vec<u32> = (0..=components.iter().copied().max().unwrap_or(0)).collect();
    let root = |parents: &mut Vec<u32>, mut of: u32| {
        while parents[of as usize] != of {
            let above = parents[parents[of as usize] as usize];
            parents[of as usize] = above; // halves the path of later lookups
            of = above;
        }
        of
    };
    for wire in wires {
        let [a, b] = [wire.from, wire.to].map(|node| root(&mut parents, components[node.index()]));
        parents[a.max(b) as usize] = a.min(b);
    }
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    let number = |of: &u32| {
        let next = numbers.len() as u32;
        *numbers.entry(root(&mut parents, *of)).or_insert(next)
    };
    components.iter().map(number).collect()
}

/// Maximum length of a link in metres, at the nominal rate or any rate that stations may choose; none if
/// distance does not decide.
pub(crate) fn radius(config: &Config) -> Option<f64> {
    let nominal = nominal_radius(config)?;
    Some(candidates(config).into_iter().filter_map(|rate| radius_at(config, rate)).fold(nominal, f64::max))
}

/// Maximum length of a link in metres at the nominal rate; none if distance does not decide.
pub(crate) fn nominal_radius(config: &Config) -> Option<f64> {
    radius_at(config, config.rates.data)
}

fn radius_at(config: &Config, rate: DataRate) -> Option<f64> {
    let MediumConfig { bit_error_rate, packet_error_rate, model, .. } = &config.medium;
    let ack_rate =
        config.rates.ack.or(config.rates.control).unwrap_or_else(|| config.phy.response_rate(rate));
    // Same rule as in routing: noise and the scenario's error rates decide each direction.
    let usable = |data_noise: f64, ack_noise: f64| {
        let bits = |noise: f64, bytes| frame_success(noise + (-bit_error_rate).ln_1p(), bytes);
        bits(data_noise, NOMINAL_BYTES) * (1.0 - packet_error_rate) * bits(ack_noise, ACK_BYTES)
            >= LEAST_DELIVERY
    };
    match model {
        MediumModel::Ranges { receive_range, .. } => {
            Some(if usable(0.0, 0.0) { *receive_range } else { 0.0 })
        }
        MediumModel::Sinr { transmit_power_mw, noise_mw, sensitivity_mw, path_loss, .. } => {
            let errors = [rate, ack_rate.into()]
                .map(|rate| config.phy.error_table(rate).expect("the rate belongs to the PHY"));
            let noise = femtowatts(*noise_mw).max(1) as f64;
            let by_rate =
                |rate| config.phy.sensitivity_dbm(rate).filter(|_| config.medium.sensitivity_by_rate);
            let least_dbm = [rate, ack_rate.into()].into_iter().filter_map(by_rate);
            let least_mw = least_dbm.map(|dbm| 10f64.powf(dbm / 10.0)).fold(0.0, f64::max);
            let usable_at = |distance| {
                let power_mw = transmit_power_mw * path_loss.gain(distance);
                let ratio = femtowatts(power_mw) as f64 / noise;
                power_mw >= *sensitivity_mw
                    && power_mw >= least_mw
                    && usable(errors[0].bit_success_ln(ratio), errors[1].bit_success_ln(ratio))
            };
            let (mut near, mut far) = (0.0, DISTANCE_MAX);
            for _ in 0..64 {
                let middle = f64::midpoint(near, far); // power falls with distance, so bisection finds the edge
                if usable_at(middle) { near = middle } else { far = middle }
            }
            Some(near)
        }
        MediumModel::Matrix { .. } | MediumModel::Sensed { .. } => None,
    }
}

fn cell(position: [f64; 2], radius: f64) -> (i64, i64) {
    let width = radius.max(1e-3); // a radius of zero must not divide
    ((position[0] / width).floor() as i64, (position[1] / width).floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, load};
    use multihop_core::Rng;
    use multihop_sim::config::NodeConfig;

    #[test]
    fn components_are_numbered_by_their_first_nodes() {
        let apart = Reach::within(vec![[0.0, 0.0], [500.0, 0.0], [90.0, 0.0], [590.0, 0.0]], 100.0);
        assert_eq!(apart.components(), [0, 1, 0, 1]);
    }

    #[test]
    fn wires_join_components() {
        let wire = |from, to| WireConfig {
            from: NodeId(from),
            to: NodeId(to),
            rate: multihop_core::Rate::from_kbps(1),
            delay: multihop_core::Span::ZERO,
            queue_limit: 1,
            discipline: multihop_link::Discipline::DropTail,
            loss: 0.0,
        };
        assert_eq!(joined(&[0, 1, 2, 3, 1], &[wire(3, 4), wire(4, 3)]), [0, 1, 2, 1, 1]);
        assert_eq!(joined(&[0, 1, 2, 3], &[wire(2, 3), wire(1, 2), wire(3, 1)]), [0, 1, 1, 1]);
    }

    #[test]
    fn a_search_by_cells_agrees_with_all_pairs() {
        let mut rng = Rng::at(5, &["reach"]);
        let positions: Vec<[f64; 2]> =
            (0..120).map(|_| [rng.unit() * 1000.0 - 500.0, rng.unit() * 1000.0]).collect();
        let distance = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let listed = (0..120)
            .map(|i| {
                (0..120u32).filter(|j| distance(&positions[i], &positions[*j as usize]) <= 90.0).collect()
            })
            .collect();
        let components = Reach::within(positions, 90.0).components();
        assert_eq!(components, Reach::Listed(listed).components());
        assert!(components.iter().any(|component| *component > 2));
    }

    /// Network of two neighbours on this medium.
    fn on(medium: &str) -> Config {
        let text = format!(
            "duration = \"1 s\"\n[medium]\n{medium}\n[topology]\ngenerator = \"chain\"\nhops = 1\nspacing = \"2 m\"\n\
             [traffic]\npattern = \"canonical\"\nscheme = \"udp\"\n"
        );
        load(&text, "reach.toml", &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn routing_agrees_on_what_is_usable() {
        let mut configs = [
            on("model = \"ranges\""),
            on("model = \"ranges\"\nbit_error_rate = 5e-4"),
            on("model = \"sinr\""),
            on("model = \"sinr\"\nsensitivity = \"-80 dBm\""),
            on(
                "model = \"sinr\"\nnoise = \"-85 dBm\"\npacket_error_rate = 0.9\npath_loss = { model = \"two-ray\" }",
            ),
            on("model = \"ranges\""),
            on(
                "model = \"sinr\"\n[mac]\nrate_control = { algorithm = \"ideal\" }\n[phy]\nstandard = \"802.11g\"\ndata_rate = \"54 Mb/s\"",
            ),
            on(
                "model = \"sinr\"\n[mac]\nrate_control = { algorithm = \"minstrel-ht\" }\n[phy]\nstandard = \"802.11ac\"\ndata_rate = \"MCS 8\"",
            ),
        ];
        configs[5].medium.bit_error_rate = 5e-3; // no link is usable at this error rate
        for (i, mut config) in configs.into_iter().enumerate() {
            let mut rng = Rng::at(i as u64, &["reach"]);
            let mut place = || Some([600.0 * rng.unit(), 600.0 * rng.unit()]);
            let mut node =
                || NodeConfig { name: String::new(), position: place(), base: None, data_rate: None };
            config.topology.nodes = (0..60).map(|_| node()).collect();
            let radius = radius(&config).unwrap();
            let place = |node: u32| config.topology.nodes[node as usize].position.unwrap();
            let near = |a, b| (place(a)[0] - place(b)[0]).hypot(place(a)[1] - place(b)[1]) <= radius;
            let pairs = (0..60).flat_map(|a| (0..60).map(move |b| (a, b)));
            let ours: BTreeSet<(u32, u32)> = pairs.filter(|(a, b)| a != b && near(*a, *b)).collect();
            let theirs: BTreeSet<(u32, u32)> =
                LinkQuality::new(&config).usable().into_iter().map(|(from, to, _)| (from.0, to.0)).collect();
            let apart: Vec<_> = ours.symmetric_difference(&theirs).collect();
            assert!(apart.is_empty(), "{apart:?} of {}: {:?}", theirs.len(), config.medium);
            assert_eq!(theirs.len() > 100, i != 5, "{} links: {:?}", theirs.len(), config.medium);
        }
    }
}
