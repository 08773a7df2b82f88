//! Directed links: which nodes sense each other.

use super::NodeOrder;
use crate::config::{
    Config, MatrixQuantity, MediumModel, NodeConfig, PathLoss, RadioPower, Radios, SensedLink,
};
use multihop_core::NodeId;
use std::collections::BTreeMap;

/// Directed link: how a transmitter's signal arrives at one listener.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Number of the listener.
    pub to: u32,
    /// Row of the listener in memory. The highest bit is whether it can decode frames without interference.
    pub(super) place: u32,
    /// Energy that the signal adds at the listener: femtowatts with SINR, one otherwise.
    pub energy: u64,
    /// Received power, in a unit common to all links.
    pub power: f64,
    /// Natural logarithm of the probability that a bit is correct without interference.
    pub ln_bit_success: f64,
}

/// Bit of [`Link::place`] that marks decodable frames.
const DECODABLE: u32 = 1 << 31;

impl Link {
    /// Creates a link to a listener; `decodable` is whether it can decode frames without interference.
    pub fn new(to: u32, decodable: bool, energy: u64, power: f64, ln_bit_success: f64) -> Link {
        debug_assert!(to < DECODABLE);
        Link { to, place: to, energy, power, ln_bit_success }.with_decodable(decodable)
    }

    /// Whether the listener can decode frames without interference.
    #[inline]
    pub fn is_decodable(&self) -> bool {
        self.place & DECODABLE != 0
    }

    /// Row of the listener's state in memory.
    #[inline]
    pub fn row(&self) -> usize {
        (self.place & !DECODABLE) as usize
    }

    /// Copies the link for a truncated frame, whose FCS never arrives.
    pub fn without_checksum(self) -> Link {
        Link { ln_bit_success: f64::NEG_INFINITY, ..self }
    }

    /// Copies the link with or without the ability to decode frames.
    pub(super) fn with_decodable(self, decodable: bool) -> Link {
        Link { place: self.row() as u32 | if decodable { DECODABLE } else { 0 }, ..self }
    }

    /// Copies the link for a listener in this row.
    pub(super) fn in_row(self, row: u32) -> Link {
        Link { place: row | (self.place & DECODABLE), ..self }
    }

    /// Restricts the link by the channels of its ends: unchanged on one channel, energy without decoding on
    /// overlapping channels, none otherwise. Radios of one node have no link between them.
    pub(super) fn on_channels(&self, from: NodeId, radios: &Radios) -> Option<Link> {
        let to = NodeId(self.to);
        let part = if radios.share_node(from, to) { 0.0 } else { radios.part_at(from, to) };
        if part == 1.0 {
            return Some(*self);
        }
        let energy = (self.energy as f64 * part).ceil() as u64;
        (part > 0.0).then_some(Link { energy, power: self.power * part, ..self.with_decodable(false) })
    }
}

/// All directed links, by transmitter, in compressed rows. A row is sorted by listener number, until the rows
/// of [`NodeOrder`] apply.
#[derive(Clone, Debug, Default)]
pub struct Links {
    starts: Vec<u32>,
    links: Vec<Link>,
}

/// One femtowatt in milliwatts.
const FEMTOWATT: f64 = 1e-12;

/// Largest power in milliwatts that an antenna receives, 10 W, so that sums of femtowatts fit into 64 bits.
const MOST_MW: f64 = 1e4;

/// Share of the noise below which signals are ignored: a hundred of them raise the noise by 4 %.
const NEGLIGIBLE: f64 = 1.0 / 2500.0;

/// Propagation model of links that depend on distance.
#[derive(Clone, Debug)]
pub(super) enum Propagation {
    /// Fixed ranges.
    Ranges { receive_range: f64, carrier_sense_range: f64, path_loss: PathLoss, ln_bit: f64 },
    /// Received powers; powers below the floor are ignored.
    Powers { transmit_power_mw: f64, powers: Powers },
    /// Received powers of radios with different transmit powers or antenna gains.
    UnequalPowers { radios: Box<[RadioPower]>, powers: Powers },
}

/// Path loss and thresholds that turn a transmitted power into a link.
#[derive(Clone, Debug)]
pub(super) struct Powers {
    sensitivity_mw: f64,
    floor_mw: f64,
    path_loss: PathLoss,
    ln_bit: f64,
}

impl Propagation {
    /// Propagation model of a configuration; none if its links were measured.
    pub(super) fn new(config: &Config) -> Option<Propagation> {
        let ln_bit = (-config.medium.bit_error_rate).ln_1p();
        match config.medium.model {
            MediumModel::Ranges { receive_range, carrier_sense_range, path_loss, .. } => {
                Some(Propagation::Ranges { receive_range, carrier_sense_range, path_loss, ln_bit })
            }
            MediumModel::Sinr {
                transmit_power_mw,
                noise_mw,
                sensitivity_mw,
                carrier_sense_mw,
                path_loss,
            } => {
                let floor_mw = noise_mw.min(carrier_sense_mw) * NEGLIGIBLE;
                let powers = Powers { sensitivity_mw, floor_mw, path_loss, ln_bit };
                if config.topology.powers.is_empty() {
                    return Some(Propagation::Powers { transmit_power_mw, powers });
                }
                Some(Propagation::UnequalPowers { radios: config.topology.powers.clone().into(), powers })
            }
            MediumModel::Matrix { .. } | MediumModel::Sensed { .. } => None,
        }
    }

    /// Distance in metres beyond which there is no link.
    pub(super) fn limit(&self) -> f64 {
        match self {
            Propagation::Ranges { carrier_sense_range, .. } => *carrier_sense_range,
            Propagation::Powers { transmit_power_mw, powers } => powers.limit(*transmit_power_mw),
            Propagation::UnequalPowers { radios, powers } => {
                let most = |of: fn(&RadioPower) -> f64| radios.iter().map(of).fold(0.0, f64::max);
                powers.limit(most(|radio| radio.radiated_mw()) * most(|radio| radio.antenna_gain))
            }
        }
    }

    /// Link to a node at a distance up to [`Propagation::limit`].
    #[expect(
        clippy::inline_always,
        reason = "links of nodes that move are made for each frame: a call is 5 % of such a run"
    )]
    #[inline(always)]
    pub(super) fn link(&self, from: NodeId, to: u32, distance: f64) -> Option<Link> {
        match self {
            Propagation::Ranges { receive_range, path_loss, ln_bit, .. } => {
                Some(Link::new(to, distance <= *receive_range, 1, path_loss.gain(distance), *ln_bit))
            }
            Propagation::Powers { transmit_power_mw, powers } => {
                powers.link(to, transmit_power_mw * powers.path_loss.gain(distance))
            }
            Propagation::UnequalPowers { radios, powers } => powers.link_between(radios, from, to, distance),
        }
    }
}

impl Powers {
    /// Distance in metres beyond which a power arrives below the floor.
    fn limit(&self, power_mw: f64) -> f64 {
        self.path_loss.distance_of(self.floor_mw / power_mw)
    }

    /// Link to node `to` with this received power.
    #[inline]
    fn link(&self, to: u32, power_mw: f64) -> Option<Link> {
        (power_mw >= self.floor_mw).then(|| powered(to, power_mw, self.sensitivity_mw, self.ln_bit))
    }

    /// Link with the transmit power and antenna gain of the sender, and the antenna gain of the receiver.
    #[inline(never)]
    fn link_between(&self, radios: &[RadioPower], from: NodeId, to: u32, distance: f64) -> Option<Link> {
        let gain = radios[to as usize].antenna_gain * self.path_loss.gain(distance);
        self.link(to, (radios[from.index()].radiated_mw() * gain).min(MOST_MW))
    }
}

impl Links {
    /// Computes the links of a configuration at the start of the run.
    ///
    /// # Panics
    /// If the model needs positions and a node has none, which the scenario checks.
    pub fn new(config: &Config) -> Links {
        let links = Links::of_one_channel(config);
        if config.topology.radios.are_one_each() { links } else { links.on_channels(&config.topology.radios) }
    }

    /// Computes the links as if all radios were on one channel.
    fn of_one_channel(config: &Config) -> Links {
        let Config { medium, topology, .. } = config;
        if let Some(propagation) = Propagation::new(config) {
            return Links::by_distance(&topology.nodes, &propagation);
        }
        let ln_bit = (-medium.bit_error_rate).ln_1p();
        if let MediumModel::Sensed { links, probe_size, sensitivity_mw, .. } = &medium.model {
            let row = |link: &SensedLink| (link.from.0, sensed(link, *probe_size, *sensitivity_mw, ln_bit));
            return Links::from_rows(topology.nodes.len(), links.iter().map(row).collect());
        }
        let MediumModel::Matrix { links, quantity } = &medium.model else {
            unreachable!("links that do not go by distance were measured")
        };
        let rows = links.iter().map(|link| {
            let arrives = match quantity {
                MatrixQuantity::Delivery { probe_size } => {
                    let ln_delivery = multihop_dot11::success_from_delivery(link.value, *probe_size);
                    Link::new(link.to.0, link.value > 0.0, 1, 1.0, ln_bit + ln_delivery)
                }
                MatrixQuantity::Rssi { sensitivity_mw, .. } => {
                    powered(link.to.0, 10f64.powf(link.value / 10.0), *sensitivity_mw, ln_bit)
                }
            };
            (link.from.0, arrives)
        });
        Links::from_rows(topology.nodes.len(), rows.collect())
    }

    /// Links of a transmitter, sorted by listener.
    #[inline]
    pub fn of(&self, from: NodeId) -> &[Link] {
        &self.links[self.starts[from.index()] as usize..self.starts[from.index() + 1] as usize]
    }

    /// Link between two nodes, if there is one.
    pub fn between(&self, from: NodeId, to: NodeId) -> Option<&Link> {
        let row = self.of(from);
        row.binary_search_by_key(&to.0, |link| link.to).ok().map(|at| &row[at])
    }

    /// Sorts the links of each transmitter by the rows of their listeners in memory.
    pub(super) fn in_rows(mut self, order: &NodeOrder) -> Links {
        self.links.iter_mut().for_each(|link| *link = link.in_row(order.of(NodeId(link.to)) as u32));
        for from in 0..self.nodes() {
            self.links[self.starts[from] as usize..self.starts[from + 1] as usize].sort_by_key(Link::row);
        }
        self
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Links between nodes within reach; nodes without a position have none.
    fn by_distance(nodes: &[NodeConfig], propagation: &Propagation) -> Links {
        let squares = Squares::new(nodes, propagation.limit());
        let mut found = Links { starts: vec![0], links: Vec::new() };
        for from in 0..nodes.len() as u32 {
            let begun = found.links.len();
            found.links.extend(
                squares.near(from).filter_map(|(to, distance)| propagation.link(NodeId(from), to, distance)),
            );
            found.links[begun..].sort_by_key(|link| link.to);
            found.starts.push(found.links.len() as u32);
        }
        found
    }

    /// Restricts the links by the channels of the radios.
    fn on_channels(&self, radios: &Radios) -> Links {
        let mut left = Links { starts: vec![0], links: Vec::new() };
        for from in (0..self.nodes() as u32).map(NodeId) {
            left.links.extend(self.of(from).iter().filter_map(|link| link.on_channels(from, radios)));
            left.starts.push(left.links.len() as u32);
        }
        left
    }

    fn from_rows(nodes: usize, mut rows: Vec<(u32, Link)>) -> Links {
        rows.sort_by_key(|(from, link)| (*from, link.to));
        let mut starts = vec![0; nodes + 1];
        for (from, _) in &rows {
            starts[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        Links { starts, links: rows.into_iter().map(|(_, link)| link).collect() }
    }
}

/// Whether the nodes would have more than `most` links by distance. Links below the floor count too.
pub fn exceed(config: &Config, most: usize) -> bool {
    let nodes = &config.topology.nodes;
    let Some(propagation) = Propagation::new(config) else { return false };
    let squares = Squares::new(nodes, propagation.limit());
    let mut counted = 0;
    (0..nodes.len() as u32).any(|from| {
        counted += squares.near(from).take(most + 1 - counted).count();
        counted > most
    })
}

/// Distance in metres beyond which no frame is detected, or that of the farthest receiver if no node moves.
///
/// # Errors
/// A node without a position, where links are a matrix.
///
/// # Panics
/// If a node has no position although links depend on distance, which the scenario has refused.
pub fn farthest(config: &Config) -> Result<f64, NodeId> {
    let nodes = &config.topology.nodes;
    let longest = |distances: &mut dyn Iterator<Item = f64>| distances.fold(0.0, f64::max);
    let measured: Option<Vec<(NodeId, NodeId)>> = match &config.medium.model {
        MediumModel::Matrix { links, .. } => Some(links.iter().map(|link| (link.from, link.to)).collect()),
        MediumModel::Sensed { links, .. } => Some(links.iter().map(|link| (link.from, link.to)).collect()),
        MediumModel::Ranges { .. } | MediumModel::Sinr { .. } => None,
    };
    if let Some(links) = measured {
        let ends = links.iter().flat_map(|(from, to)| [*from, *to]);
        let unknown = |node: &NodeId| nodes[node.index()].position.is_none();
        return match { ends }.find(unknown) {
            Some(node) => Err(node),
            None => Ok(longest(&mut links.iter().map(|(from, to)| distance(nodes, *from, *to)))),
        };
    }
    let propagation = Propagation::new(config).expect("only measured links do not go by distance");
    if config.mobility.moves() {
        return Ok(propagation.limit());
    }
    let squares = Squares::new(nodes, propagation.limit());
    let all = 0..config.topology.nodes.len() as u32;
    Ok(longest(&mut all.flat_map(|from| squares.near(from).map(|(_, distance)| distance))))
}

/// Distance between two nodes with positions at the start of the run, in metres.
pub(super) fn distance(nodes: &[NodeConfig], from: NodeId, to: NodeId) -> f64 {
    let [a, b] = [from, to].map(|node| nodes[node.index()].position.expect("the scenario has checked it"));
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Nodes with positions, sorted into squares as wide as the reach, so that a search covers neighbouring
/// squares only.
struct Squares<'n> {
    nodes: &'n [NodeConfig],
    limit: f64,
    held: BTreeMap<[i64; 2], Vec<(u32, [f64; 2])>>,
}

impl<'n> Squares<'n> {
    fn new(nodes: &'n [NodeConfig], limit: f64) -> Squares<'n> {
        let mut sorted = Squares { nodes, limit, held: BTreeMap::new() };
        for (index, position) in nodes.iter().enumerate().filter_map(|(index, n)| Some((index, n.position?)))
        {
            sorted.held.entry(sorted.square(position)).or_default().push((index as u32, position));
        }
        sorted
    }

    fn square(&self, position: [f64; 2]) -> [i64; 2] {
        position.map(|metres| (metres / self.limit.max(1.0)).floor() as i64)
    }

    /// Other nodes within reach, with their distances in metres.
    fn near(&self, from: u32) -> impl Iterator<Item = (u32, f64)> {
        let here = self.nodes[from as usize].position;
        let squares = here.into_iter().flat_map(|a| {
            let [column, row] = self.square(a);
            let keys = (-1..=1).flat_map(move |dx| (-1..=1).map(move |dy| [column + dx, row + dy]));
            keys.filter_map(|key| self.held.get(&key))
                .flatten()
                .map(move |&(to, b)| (to, (a[0] - b[0]).hypot(a[1] - b[1])))
        });
        squares.filter(move |(to, distance)| *to != from && *distance <= self.limit)
    }
}

fn powered(to: u32, power_mw: f64, sensitivity_mw: f64, ln_bit_success: f64) -> Link {
    let energy = femtowatts(power_mw);
    Link::new(to, power_mw >= sensitivity_mw, energy, energy as f64, ln_bit_success)
}

/// Link with a measured delivery, whatever its power. A link that delivers frames is decodable, however weak.
fn sensed(link: &SensedLink, probe_size: u32, sensitivity_mw: f64, ln_bit: f64) -> Link {
    let delivery = link.delivery.unwrap_or(0.0);
    let power_mw = 10f64.powf(link.rssi / 10.0);
    let power_mw = if delivery > 0.0 { power_mw.max(sensitivity_mw) } else { power_mw };
    let ln_success = ln_bit + multihop_dot11::success_from_delivery(delivery, probe_size);
    powered(link.to.0, power_mw, sensitivity_mw, ln_success)
}

/// Converts a power from milliwatts to whole femtowatts.
pub fn femtowatts(power_mw: f64) -> u64 {
    (power_mw / FEMTOWATT).round() as u64
}

impl PathLoss {
    /// Distance in metres beyond which the gain stays below `gain`, at most twice the smallest such distance.
    fn distance_of(&self, gain: f64) -> f64 {
        const FARTHEST: f64 = 1e12;
        std::iter::successors(Some(1.0), |distance| Some(distance * 2.0))
            .find(|distance| self.gain(*distance) < gain || *distance > FARTHEST)
            .expect("distances grow without end")
    }

    /// Ratio of received to transmitted power at this distance in metres.
    pub fn gain(&self, distance: f64) -> f64 {
        match *self {
            PathLoss::TwoRayGround { frequency_hz, antenna_height } => {
                let wavelength = 299_792_458.0 / frequency_hz;
                let crossover = 4.0 * std::f64::consts::PI * antenna_height * antenna_height / wavelength;
                let distance = distance.max(wavelength);
                if distance < crossover {
                    (wavelength / (4.0 * std::f64::consts::PI * distance)).powi(2)
                } else {
                    (antenna_height * antenna_height / (distance * distance)).powi(2)
                }
            }
            PathLoss::LogDistance { exponent, reference_loss_db, reference_distance } => {
                let beyond = (distance / reference_distance).max(1.0);
                10f64.powf(-reference_loss_db / 10.0) * beyond.powf(-exponent)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ns-2's constants: 0.28183815 W at 914 MHz and 1.5 m give 3.652e-10 W at 250 m and 1.559e-11 W at 550
    /// m.
    #[test]
    fn two_ray_ground_gives_ns2_thresholds() {
        let loss = PathLoss::TwoRayGround { frequency_hz: 914e6, antenna_height: 1.5 };
        let power = |distance| 0.281_838_15 * loss.gain(distance);
        assert!((power(250.0) / 3.652e-10 - 1.0).abs() < 1e-3);
        assert!((power(550.0) / 1.559e-11 - 1.0).abs() < 1e-3);
        assert!((power(200.0) / power(400.0) - 16.0).abs() < 1e-9);
        // Friis and two-ray meet at the cross-over distance of 86 m.
        assert!((power(86.1) / power(86.3) - 1.0).abs() < 0.02);
    }

    #[test]
    fn log_distance_loses_ten_times_the_exponent_per_decade() {
        let loss = PathLoss::LogDistance { exponent: 3.0, reference_loss_db: 40.0, reference_distance: 1.0 };
        assert!((10.0 * loss.gain(100.0).log10() + 100.0).abs() < 1e-9);
    }
}
