//! Laws that any correct DCF obeys, against closed forms.

mod common;

use common::{chain, saturate, total_goodput};
use multihop_core::Span;
use multihop_dot11::DcfRules;
use multihop_sim::run;

/// One saturated sender has no collisions: a packet every DIFS + mean back-off + exchange.
#[test]
fn one_link_carries_what_the_closed_form_says() {
    for (rules, mean_slots) in [(DcfRules::IEEE, 15.5), (DcfRules::NS2, 15.0)] {
        for with_rts in [false, true] {
            let mut config = chain(rules, 1);
            config.mac.rts_threshold = with_rts.then_some(0);
            config.duration = Span::from_ms(401_000);
            saturate(&mut config, 0, 1);
            let outcome = run(&config);
            let us = |span: Span| span.ns() as f64 / 1e3;
            let bytes = 1500 + rules.llc_header + rules.data_header;
            let data = us(config.phy.airtime(config.data_rate, bytes, rules.airtime));
            let (rts, control, delay) = (352.0, 304.0, 1.0);
            let handshake = if with_rts { rts + control + 2.0 * (10.0 + delay) } else { 0.0 };
            let cycle = 50.0 + 20.0 * mean_slots + handshake + data + 10.0 + control + 2.0 * delay;
            let expected = 1472.0 * 8.0 / cycle * 1e6;
            let measured = total_goodput(&outcome);
            let off = measured / expected - 1.0;
            println!("rts {with_rts}: {measured:.0} against {expected:.0} b/s, {:+.4} %", off * 100.0);
            assert!(off.abs() < 1e-3, "rts {with_rts}: {measured} against {expected}");
        }
    }
}
