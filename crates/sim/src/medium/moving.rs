//! Links of moving nodes.
//!
//! A transmitter's links are computed when it starts a frame, and stay until its next frame, so that a signal
//! ends at the same listeners, with the same power, as it began. They are computed again only if nodes may
//! have moved noticeably since.
//!
//! Nodes are sorted into squares slightly wider than the reach of signals, so that a search covers nine
//! squares. A node changes its square by an event of its own ([`MovingLinks::step`]); a margin covers the
//! rounding of that instant.

use super::fading::FadingLinks;
use super::links::{Link, Links, Propagation, distance, farthest};
use super::{NodeOrder, Wavefront, light};
use crate::config::{Config, Radios, TopologyConfig};
use crate::mobility::Motion;
use multihop_core::{NodeId, Span, Time};
use std::collections::BTreeMap;

/// Width in metres that squares have beyond the reach of signals: more than any node moves in `TICK`.
const MARGIN: f64 = 1.0;
/// Smallest interval between two events of one node.
const TICK: Span = Span::from_us(1);

/// Column and row of a square.
type Cell = [i32; 2];

/// Links of a run with moving nodes.
#[derive(Clone, Debug)]
pub struct MovingLinks {
    propagation: Propagation,
    radios: Radios,
    stored: NodeOrder,
    limit: f64,
    /// Square of the reach, with a margin for rounding.
    limit_squared: f64,
    width: f64,
    motions: Vec<Motion>,
    /// Present or latest leg of each node; none before the first.
    legs: Vec<Option<u32>>,
    cell_of: Vec<Cell>,
    cells: BTreeMap<Cell, Vec<u32>>,
    rows: Vec<Vec<Link>>,
    /// Time at which each transmitter's links were computed.
    made: Vec<Option<Time>>,
    /// Buffer for the computation of links: row, number and distance of each listener.
    near: Vec<(u32, u32, f64)>,
    /// Time for which computed links are accurate enough.
    lasts: Span,
}

impl MovingLinks {
    /// Computes the links of a configuration; none if no node moves, or if links do not depend on distance.
    pub fn new(config: &Config, stored: &NodeOrder) -> Option<MovingLinks> {
        let Config { topology: TopologyConfig { nodes, radios, .. }, mobility, .. } = config;
        if !mobility.moves() {
            return None;
        }
        let propagation = Propagation::new(config)?;
        let limit = propagation.limit();
        // Both nodes of a link may move apart at this speed.
        let fastest = mobility.motions.iter().map(Motion::fastest).fold(0.0, f64::max);
        // A node without a position has no radio: it is in no square, and enters none.
        let has_radio = |node: &usize| nodes[*node].position.is_some();
        let mut motions = mobility.motions.clone();
        (0..nodes.len())
            .filter(|node| !has_radio(node))
            .for_each(|node| motions[node] = Motion::standing([0.0; 2]));
        let mut links = MovingLinks {
            propagation,
            radios: radios.clone(),
            stored: stored.clone(),
            limit,
            limit_squared: limit * limit * (1.0 + 1e-9),
            width: limit + MARGIN,
            motions,
            legs: vec![None; nodes.len()],
            cell_of: vec![[0; 2]; nodes.len()],
            cells: BTreeMap::new(),
            rows: vec![Vec::new(); nodes.len()],
            made: vec![None; nodes.len()],
            near: Vec::new(),
            lasts: Span::from_seconds(mobility.resolution / (2.0 * fastest)),
        };
        for node in (0..nodes.len()).filter(has_radio) {
            let cell = links.cell(links.motions[node].origin());
            links.cell_of[node] = cell;
            links.cells.entry(cell).or_default().push(node as u32);
        }
        Some(links)
    }

    /// Links of a transmitter, as of the start of its latest frame.
    pub fn of(&self, from: NodeId) -> &[Link] {
        &self.rows[from.index()]
    }

    /// Updates the links of a transmitter that starts a frame. Returns whether they were computed again.
    pub fn refresh(&mut self, from: NodeId, now: Time) -> bool {
        let index = from.index();
        if self.made[index].is_some_and(|made| now.since(made) <= self.lasts) {
            return false;
        }
        self.made[index] = Some(now);
        let mut found = std::mem::take(&mut self.near);
        found.clear();
        let [x, y] = self.place(index, now);
        let [column, line] = self.cell_of[index];
        for near in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| [column + dx, line + dy])) {
            for &to in self.cells.get(&near).into_iter().flatten() {
                let [other_x, other_y] = self.place(to as usize, now);
                let [dx, dy] = [x - other_x, y - other_y];
                if dx * dx + dy * dy > self.limit_squared || to == from.0 {
                    continue;
                }
                let distance = dx.hypot(dy);
                if distance <= self.limit {
                    found.push((self.stored.of(NodeId(to)) as u32, to, distance));
                }
            }
        }
        found.sort_unstable_by_key(|(place, ..)| *place);
        let row = &mut self.rows[index];
        row.clear();
        let link = |&(place, to, distance): &(u32, u32, f64)| {
            self.propagation.link(from, to, distance).map(|link| link.in_row(place))
        };
        row.extend(found.iter().filter_map(link));
        if !self.radios.are_one_each() {
            row.retain_mut(|link| link.on_channels(from, &self.radios).map(|left| *link = left).is_some());
        }
        self.near = found;
        true
    }

    /// Distances of a transmitter's listeners in metres, in the order of its links.
    fn distances(&self, from: NodeId, now: Time) -> impl Iterator<Item = f64> {
        let [x, y] = self.place(from.index(), now);
        self.of(from).iter().map(move |link| {
            let [other_x, other_y] = self.place(link.to as usize, now);
            (x - other_x).hypot(y - other_y)
        })
    }

    /// Handles the start or the end of a node's leg, or its entry into another square. Returns the time of
    /// the node's next such event, if there is one.
    pub fn step(&mut self, node: u32, now: Time) -> Option<Time> {
        let index = node as usize;
        let seconds = now.seconds();
        let legs = self.motions[index].legs();
        let next = self.legs[index].map_or(0, |leg| leg as usize + 1);
        let begun = legs[next..].partition_point(|leg| leg.start <= seconds);
        if begun > 0 {
            self.legs[index] = Some((next + begun - 1) as u32);
        }
        let cell = self.cell(self.place(index, now));
        let before = std::mem::replace(&mut self.cell_of[index], cell);
        if cell != before {
            let left = self.cells.get_mut(&before).expect("a node is in its square");
            left.retain(|other| *other != node);
            self.cells.entry(cell).or_default().push(node);
        }
        let next = self.next_step(index, seconds)?;
        // Capped: a leg of a very slow node may last longer than any run.
        let at = Time::ZERO + Span::from_seconds(next.min(Time::NEVER.seconds()));
        Some(at.max(now + TICK))
    }

    /// Time at which the node's leg ends, its next leg begins, or it leaves its square.
    fn next_step(&self, index: usize, now: f64) -> Option<f64> {
        let legs = self.motions[index].legs();
        let present = self.legs[index].map(|leg| leg as usize);
        let next_start = legs.get(present.map_or(0, |leg| leg + 1)).map(|leg| leg.start);
        let Some(leg) = present.map(|leg| &legs[leg]).filter(|leg| now < leg.end) else { return next_start };
        let (place, velocity) = (leg.at(now), leg.velocity());
        let leaves = |axis: usize| {
            let edge = f64::from(self.cell_of[index][axis]) * self.width;
            let ahead = match velocity[axis] {
                speed if speed > 0.0 => edge + self.width - place[axis],
                speed if speed < 0.0 => edge - place[axis],
                _ => return f64::INFINITY,
            };
            now + ahead / velocity[axis]
        };
        // The next leg may begin where and when this one ends.
        Some(leaves(0).min(leaves(1)).min(next_start.unwrap_or(leg.end)).min(leg.end.max(now)))
    }

    fn place(&self, index: usize, now: Time) -> [f64; 2] {
        let motion = &self.motions[index];
        self.legs[index].map_or(motion.origin(), |leg| motion.legs()[leg as usize].at(now.seconds()))
    }

    fn cell(&self, place: [f64; 2]) -> Cell {
        place.map(|metres| (metres / self.width).floor() as i32)
    }
}

/// Links of a run, fixed or changing over time.
#[derive(Clone, Debug)]
pub enum Listeners {
    /// Links that do not change.
    Fixed(Links),
    /// Links that follow the motion of nodes.
    Moving(Box<MovingLinks>),
    /// Either of these, with powers that fade over time.
    Fading(Box<FadingLinks>),
}

impl Listeners {
    /// Links of a configuration, given the links at the start and the order of nodes in memory.
    pub fn new(config: &Config, links: Links, order: &NodeOrder) -> Listeners {
        let moving = MovingLinks::new(config, order).map(|moving| Listeners::Moving(Box::new(moving)));
        let steady = moving.unwrap_or_else(|| Listeners::Fixed(links.in_rows(order)));
        FadingLinks::new(config, steady)
            .map_or_else(|steady| steady, |fading| Listeners::Fading(Box::new(fading)))
    }

    /// Links of the frame that a transmitter has on the air, sorted by the rows of listeners.
    #[inline]
    pub fn of(&self, from: NodeId) -> &[Link] {
        match self {
            Listeners::Fixed(links) => links.of(from),
            Listeners::Moving(_) | Listeners::Fading(_) => self.of_present(from),
        }
    }

    /// Variant of [`Listeners::of`] for links that change.
    #[inline(never)]
    fn of_present(&self, from: NodeId) -> &[Link] {
        match self {
            Listeners::Fixed(links) => links.of(from),
            Listeners::Moving(moving) => moving.of(from),
            Listeners::Fading(fading) => fading.of(from),
        }
    }

    /// Link between two nodes as of the transmitter's latest frame; none if there is no link, or was no frame
    /// yet.
    #[inline]
    pub fn between(&self, from: NodeId, to: NodeId) -> Option<&Link> {
        self.of(from).iter().find(|link| link.to == to.0)
    }

    /// Whether links never change.
    #[inline]
    pub fn are_fixed(&self) -> bool {
        matches!(self, Listeners::Fixed(_))
    }

    /// Largest difference between the propagation delays to a frame's farthest and nearest listeners; zero
    /// unless delays depend on distance.
    pub fn spread(config: &Config) -> Span {
        let farthest = || farthest(config).map_or(Span::ZERO, light);
        if config.medium.delays_by_distance { farthest() } else { Span::ZERO }
    }

    /// Updates the links of a transmitter that starts a frame. `wavefront` is its own, where delays depend on
    /// distance.
    #[inline]
    pub fn refresh(&mut self, from: NodeId, wavefront: Option<&mut Wavefront>, now: Time) {
        if !self.are_fixed() {
            self.renew(from, wavefront, now);
        }
    }

    #[inline(never)]
    fn renew(&mut self, from: NodeId, wavefront: Option<&mut Wavefront>, now: Time) {
        match self {
            Listeners::Fixed(_) => {}
            Listeners::Moving(moving) => {
                if moving.refresh(from, now)
                    && let Some(wavefront) = wavefront
                {
                    wavefront.arrange(moving.distances(from, now));
                }
            }
            Listeners::Fading(fading) => fading.refresh(from, wavefront, now),
        }
    }

    /// Wavefronts of all transmitters; none unless delays depend on distance.
    pub fn wavefronts(&self, config: &Config) -> Option<Vec<Wavefront>> {
        if let Listeners::Fading(fading) = self {
            return fading.under().wavefronts(config);
        }
        let mut wavefronts = config
            .medium
            .delays_by_distance
            .then(|| vec![Wavefront::default(); config.topology.nodes.len()])?;
        if let Listeners::Fixed(links) = self {
            for (from, wavefront) in (0..).map(NodeId).zip(&mut wavefronts) {
                let to = links.of(from).iter().map(|link| NodeId(link.to));
                wavefront.arrange(to.map(|to| distance(&config.topology.nodes, from, to)));
            }
        }
        Some(wavefronts)
    }

    /// Moves a node; see [`MovingLinks::step`].
    pub fn step(&mut self, node: u32, now: Time) -> Option<Time> {
        match self {
            Listeners::Fixed(_) => None,
            Listeners::Moving(moving) => moving.step(node, now),
            Listeners::Fading(fading) => fading.under_mut().step(node, now),
        }
    }
}
