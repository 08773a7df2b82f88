//! Order of nodes in memory.
//!
//! A frame changes the state of all nodes around its sender. In a network larger than the caches, most of a
//! run's time is memory access, which is faster if these nodes are adjacent. Node numbers cannot be changed
//! for this: they break ties and name random streams, so that other numbers would be another run. Therefore
//! the state of each node lies in a *row*; in a large network rows follow a Hilbert curve through the initial
//! positions of nodes.

use crate::config::{NodeConfig, TopologyConfig};
use multihop_core::NodeId;

/// Row of each node in memory.
#[derive(Clone, Debug, Default)]
pub struct NodeOrder {
    /// Row by node number; empty if each node's row is its number.
    of: Vec<u32>,
}

impl NodeOrder {
    /// Number of nodes from which a network is treated as larger than the caches.
    pub const LARGE: usize = 500;
    /// Base-2 logarithm of the number of columns of the curve's grid.
    const ORDER: u32 = 16;

    /// Chooses the order of nodes of a configuration.
    pub fn new(topology: &TopologyConfig) -> NodeOrder {
        if topology.nodes.len() < NodeOrder::LARGE {
            NodeOrder::default()
        } else {
            NodeOrder::along_a_curve(&topology.nodes)
        }
    }

    /// Orders nodes along a Hilbert curve; nodes without a position are last.
    pub fn along_a_curve(nodes: &[NodeConfig]) -> NodeOrder {
        let places = || nodes.iter().filter_map(|node| node.position);
        let least = places().fold([f64::INFINITY; 2], |[x, y], place| [x.min(place[0]), y.min(place[1])]);
        let most = places().fold([f64::NEG_INFINITY; 2], |[x, y], place| [x.max(place[0]), y.max(place[1])]);
        let side = (most[0] - least[0]).max(most[1] - least[1]).max(f64::MIN_POSITIVE);
        let last = f64::from((1u32 << NodeOrder::ORDER) - 1);
        let square = |place: [f64; 2]| [0, 1].map(|axis| ((place[axis] - least[axis]) / side * last) as u32);
        let along = |node: &NodeConfig| node.position.map_or(u64::MAX, |place| along_hilbert(square(place)));
        let mut order: Vec<(u64, u32)> = nodes.iter().map(along).zip(0..).collect();
        order.sort_unstable();
        let mut of = vec![0; nodes.len()];
        for (row, (_, node)) in (0..).zip(order) {
            of[node as usize] = row;
        }
        NodeOrder { of }
    }

    /// Row of a node.
    #[inline]
    pub fn of(&self, node: NodeId) -> usize {
        self.of.get(node.index()).map_or(node.index(), |row| *row as usize)
    }

    /// Reorders a list from node numbers to rows.
    pub fn arranged<T>(&self, by_number: Vec<T>) -> Vec<T> {
        if self.of.is_empty() {
            return by_number;
        }
        let mut rows: Vec<(u32, T)> = self.of.iter().copied().zip(by_number).collect();
        rows.sort_unstable_by_key(|(row, _)| *row);
        rows.into_iter().map(|(_, kept)| kept).collect()
    }
}

/// Position of a square along the Hilbert curve.
fn along_hilbert([mut x, mut y]: [u32; 2]) -> u64 {
    let mut along = 0;
    for level in (0..NodeOrder::ORDER).rev() {
        let [right, upper] = [x, y].map(|at| (at >> level) & 1);
        along = along << 2 | u64::from((3 * right) ^ upper);
        if upper == 0 {
            if right == 1 {
                let last = (1 << NodeOrder::ORDER) - 1;
                (x, y) = (last - x, last - y);
            }
            std::mem::swap(&mut x, &mut y);
        }
    }
    along
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Consecutive squares along the curve share an edge, and the curve visits every square.
    #[test]
    fn the_curve_has_no_gap() {
        let columns = 1 << 5;
        let step = 1 << (NodeOrder::ORDER - 5);
        let squares = (0..columns).flat_map(|x| (0..columns).map(move |y| [x, y]));
        let mut along: Vec<(u64, [u32; 2])> =
            squares.map(|square| (along_hilbert(square.map(|at| at * step)), square)).collect();
        along.sort_unstable();
        for pair in along.windows(2) {
            let [[x, y], [next_x, next_y]] = [pair[0].1, pair[1].1];
            assert_eq!(x.abs_diff(next_x) + y.abs_diff(next_y), 1, "{pair:?}");
        }
    }

    #[test]
    fn each_node_has_a_row_and_those_without_a_place_the_last_ones() {
        let at = |position| NodeConfig { name: String::new(), position, base: None, data_rate: None };
        let places = [Some([9.0, 0.0]), None, Some([0.0, 0.0]), Some([0.0, 9.0]), None, Some([9.0, 9.0])];
        let rows = NodeOrder::along_a_curve(&places.map(at));
        assert_eq!((0..6).map(|node| rows.of(NodeId(node))).collect::<Vec<_>>(), [3, 4, 0, 1, 5, 2]);
        assert_eq!(rows.arranged(vec!['a', 'b', 'c', 'd', 'e', 'f']), ['c', 'd', 'f', 'a', 'b', 'e']);
        let as_numbered = NodeOrder::default();
        assert_eq!((as_numbered.of(NodeId(2)), as_numbered.arranged(vec![5, 4, 3])), (2, vec![5, 4, 3]));
    }
}
