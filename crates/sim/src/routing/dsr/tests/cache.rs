//! The cache of routes.

use super::*;

#[test]
fn the_shortest_route_wins_and_its_own_if_two_are() {
    let mut cache = RouteCache::new(ME, 16, 2, 2);
    cache.learn(&[A, ME, B, C, D]);
    assert_eq!(cache.find(D), Some(&[ME, B, C, D][..]));
    cache.add(&[ME, E, C, D]);
    assert_eq!(cache.find(D), Some(&[ME, E, C, D][..]));
    cache.learn(&[ME, A, D]);
    assert_eq!(cache.find(D), Some(&[ME, A, D][..]));
    cache.cut(BrokenLink { from: A, to: D });
    cache.cut(BrokenLink { from: D, to: C });
    assert_eq!(cache.take(D).as_deref(), Some(&[ME, E, C, D][..]), "links break one way");
    assert_eq!(cache.find(A), Some(&[ME, A][..]), "a path is cut, not lost");
}

#[test]
fn overheard_routes_push_out_none_that_is_used() {
    let mut cache = RouteCache::new(ME, 16, 1, 1);
    cache.learn(&[ME, A, D]);
    assert_eq!(cache.take(D).as_deref(), Some(&[ME, A, D][..]));
    cache.learn(&[ME, B, E]);
    cache.learn(&[ME, C, NodeId(9)]);
    assert_eq!(cache.find(D), Some(&[ME, A, D][..]));
    assert_eq!(
        (cache.find(E), cache.find(NodeId(9)).is_some()),
        (None, true),
        "the second pushed the first out"
    );
    cache.add(&[ME, B, E]);
    assert_eq!((cache.find(D), cache.find(E).is_some()), (None, true));
}

#[test]
fn routes_that_are_too_long_are_kept_as_far_as_they_may_go() {
    let mut cache = RouteCache::new(ME, 4, 2, 2);
    cache.add(&[ME, A, B, C, D]);
    cache.learn(&[E, ME, B, A, D, C]);
    assert_eq!((cache.find(C), cache.find(D)), (Some(&[ME, A, B, C][..]), Some(&[ME, B, A, D][..])));
}
