//! Causes of broken links, nodes that receive a RERR, and the fate of packets.

use super::*;

#[test]
fn a_break_is_reported_and_goes_along_with_the_next_request() {
    let mut dsr = node(prompt());
    knows(&mut dsr, &[ME, A, B, D]);
    assert_eq!(hear(&mut dsr, 1.0, A, error(B, D, &[B, A, ME])), [], "it has come to its end");
    assert_eq!((dsr.route(at(0.0), D), dsr.next_hop(B)), (None, Some(A)));
    dsr.on_no_route(at(1.5), own(D, handle()));
    let broken = |actions: &[Action]| -> Vec<Option<BrokenLink>> {
        let request = |action: &Action| asked(action).unwrap_or_else(|| panic!("{action:?}")).broken;
        actions.iter().map(request).collect()
    };
    let link = Some(BrokenLink { from: B, to: D });
    assert_eq!(broken(&drain(&mut dsr, at(1.5))), [link]);
    let later: Vec<Action> = run(&mut dsr, 1.9).into_iter().map(|(_, action)| action).collect();
    assert_eq!(broken(&later), [link], "the error goes to each node once");
    let later: Vec<Action> = run(&mut dsr, 2.3).into_iter().map(|(_, action)| action).collect();
    assert_eq!(broken(&later), [None, None]);

    let mut other = Dsr::new(E, prompt(), Rng::at(1, &["dsr"]));
    knows(&mut other, &[E, A, B, D]);
    let reported = Request { target: C, number: 1, reach: 0, nodes: path(&[ME]), broken: link };
    hear(&mut other, 2.0, ME, DsrMessage::Request(reported));
    assert_eq!((other.next_hop(D), other.next_hop(B)), (None, Some(A)));
}

/// The first two packets are lost, nothing more; the third breaks the link.
#[test]
fn a_packet_that_breaks_no_link_is_lost() {
    let mut dsr = node(DsrConfig { failures: 3, ..prompt() });
    knows(&mut dsr, &[ME, B, D]);
    let packets = handles(3);
    for (packet, breaks) in packets.iter().zip([false, false, true]) {
        dsr.on_link_failure(at(1.0), B, breaks, GivenUp::Packet(forwarded(*packet, &[A, ME, B, D], 0)));
        let actions = drain(&mut dsr, at(1.0));
        if breaks {
            assert_eq!(actions, [unicast(error(ME, B, &[ME, A]), A)]);
            assert_eq!(dsr.route(at(0.0), D), None);
        } else {
            assert_eq!(actions, [Action::Drop(*packet, DropCause::RetryLimit)]);
            assert_eq!(dsr.next_hop(D), Some(B));
        }
    }
}

#[test]
fn a_packet_goes_another_way_if_there_is_one() {
    let mut dsr = node(prompt());
    knows(&mut dsr, &[ME, B, D]);
    knows(&mut dsr, &[ME, C, E, D]);
    let packets = handles(2);
    dsr.on_link_failure(at(1.0), B, true, GivenUp::Packet(forwarded(packets[0], &[A, ME, B, D], 3)));
    dsr.on_stranded(at(1.0), forwarded(packets[1], &[A, ME, B, D], 15));
    let expected = [
        Action::SendAlong(packets[0], along(&[ME, C, E, D], 4)),
        unicast(error(ME, B, &[ME, A]), A),
        Action::Drop(packets[1], DropCause::LinkBroken),
    ];
    assert_eq!(drain(&mut dsr, at(1.0)), expected, "fifteen times at most");
    // Its own is not salvaged: it just takes its new route.
    let own = RoutedPacket { source: ME, ..forwarded(packets[0], &[ME, C, E, D], 0) };
    knows(&mut dsr, &[ME, A, D]);
    dsr.on_link_failure(at(2.0), C, true, GivenUp::Packet(own));
    assert_eq!(drain(&mut dsr, at(2.0)), [Action::SendAlong(packets[0], along(&[ME, A, D], 0))]);
}

#[test]
fn without_salvaging_a_packet_is_lost_with_its_link() {
    let mut dsr = node(DsrConfig { salvage_limit: 0, ..prompt() });
    knows(&mut dsr, &[ME, C, E, D]);
    let packet = handle();
    dsr.on_link_failure(at(1.0), B, true, GivenUp::Packet(forwarded(packet, &[A, ME, B, D], 0)));
    let lost = Action::Drop(packet, DropCause::RetryLimit);
    assert_eq!(drain(&mut dsr, at(1.0)), [lost, unicast(error(ME, B, &[ME, A]), A)]);
}

/// For the packet of another, a node asks its neighbours once.
#[test]
fn a_packet_without_another_way_waits_while_neighbours_are_asked() {
    let mut dsr = node(prompt());
    knows(&mut dsr, &[ME, B, D]);
    let packet = handle();
    dsr.on_link_failure(at(1.0), B, true, GivenUp::Packet(forwarded(packet, &[A, ME, B, D], 0)));
    assert_eq!(drain(&mut dsr, at(1.0)), [unicast(error(ME, B, &[ME, A]), A)]);
    let done = run(&mut dsr, 1.45);
    let asked = requests(&done);
    assert!(asked.len() == 1 && asked[0].1 == 0 && asked[0].0 <= at(1.06), "{done:?}");
    let done = run(&mut dsr, 1.7);
    assert_eq!(done.len(), 1, "{done:?}");
    assert_eq!(done[0].1, Action::Drop(packet, DropCause::NoRoute));

    knows(&mut dsr, &[ME, B, D]);
    dsr.on_link_failure(at(5.0), B, true, GivenUp::Packet(forwarded(packet, &[A, ME, B, D], 0)));
    drain(&mut dsr, at(5.0));
    dsr.on_overheard(at(5.0), B, Overheard::Packet(A, &along(&[A, ME, B, D], 0)));
    let done = run(&mut dsr, 5.06);
    assert_eq!(done.len(), 1, "the neighbour was heard to send another on: {done:?}");
    assert_eq!(done[0].1, Action::SendAlong(packet, along(&[ME, B, D], 1)));
}

#[test]
fn its_own_packet_asks_at_once() {
    let mut dsr = node(prompt());
    knows(&mut dsr, &[ME, B, D]);
    let own = RoutedPacket { source: ME, ..forwarded(handle(), &[ME, B, D], 0) };
    dsr.on_link_failure(at(1.0), B, true, GivenUp::Packet(own));
    let done: Vec<(Time, Action)> = drain(&mut dsr, at(1.0)).into_iter().map(|a| (at(1.0), a)).collect();
    assert_eq!(requests(&done), [(at(1.0), 0)]);
    assert_eq!(done.len(), 1, "no other node needs the error: {done:?}");
}

#[test]
fn messages_are_salvaged_too_but_not_those_that_say_the_link_is_good() {
    let mut dsr = node(prompt());
    knows(&mut dsr, &[ME, B, A]);
    knows(&mut dsr, &[ME, C, E, A]);
    let lost = reply(&[A, B, ME, D], &[D, ME, B, A]);
    dsr.on_link_failure(at(1.0), B, true, GivenUp::Message(lost.emit(ME)));
    assert_eq!(
        drain(&mut dsr, at(1.0)),
        [unicast(error(ME, B, &[ME, D]), D)],
        "its sender receives the error"
    );

    let lost = error(D, E, &[D, ME, B, A]);
    dsr.on_link_failure(at(2.0), B, true, GivenUp::Message(lost.emit(ME)));
    assert_eq!(drain(&mut dsr, at(2.0)), [unicast(error(D, E, &[ME, C, E, A]), C)]);
    dsr.on_link_failure(at(3.0), C, false, GivenUp::Message(lost.emit(ME)));
    assert_eq!(drain(&mut dsr, at(3.0)), [], "no break, no more than a loss");
}

/// The ACK of a packet that came through was lost: the link counts as broken, and there is nothing to save.
#[test]
fn a_break_without_a_loss_is_reported_as_well() {
    let mut dsr = node(prompt());
    knows(&mut dsr, &[ME, B, D]);
    let route = Some(along(&[C, A, ME, B, D], 0));
    dsr.on_link_failure(at(1.0), B, true, GivenUp::Arrived { destination: D, hops: 2, route });
    assert_eq!(drain(&mut dsr, at(1.0)), [unicast(error(ME, B, &[ME, A, C]), A)]);
    assert_eq!(dsr.route(at(0.0), D), None);
}
