//! What must hold of every run, whatever the scenario.

use multihop_core::{Span, Time};
use multihop_sim::config::Config;
use multihop_sim::outcome::Outcome;
use multihop_sim::{Ties, World};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

/// A run that broke no law.
pub enum Kept {
    /// It came to its end.
    Whole(Box<Outcome>),
    /// It was stopped: too much happens in it.
    CutShort,
}

/// Looks at a run between which its clock must have moved: each is after 65,536 events.
const LOOKS_AT_ONE_INSTANT: u32 = 3;
/// Looks after which a run is stopped.
const LOOKS_MAX: u32 = 12;

/// A run that was stopped, and why if that is against the law.
struct Stopped(Option<&'static str>);

/// Runs it three times, and says which law it broke.
pub fn check(config: &Config) -> Result<Kept, String> {
    let Some(first) = run(config, Ties::InOrder)? else { return Ok(Kept::CutShort) };
    for (ties, what) in [(Ties::InOrder, "a second run"), (Ties::Reversed, "reversed ties")] {
        let again = run(config, ties)?;
        if again.as_ref() != Some(&first) {
            return Err(format!("another result with {what}"));
        }
    }
    match out_of_range(config, &first) {
        Some(column) => Err(format!("out of range: {column}")),
        None => Ok(Kept::Whole(Box::new(first))),
    }
}

/// The outcome; none of a run that was stopped. That packets are conserved and no station is stuck is asserted at the end of each.
fn run(config: &Config, ties: Ties) -> Result<Option<Outcome>, String> {
    let (mut looks, mut still, mut before) = (0, 0, Time::ZERO);
    let watch = |now: Time| {
        looks += 1;
        still = if now == before { still + 1 } else { 0 };
        before = now;
        if still >= LOOKS_AT_ONE_INSTANT {
            panic_any(Stopped(Some("time stands still")));
        }
        if looks >= LOOKS_MAX {
            panic_any(Stopped(None));
        }
    };
    let run = AssertUnwindSafe(|| World::new(config, ties).finish_watched(watch));
    match catch_unwind(run) {
        Ok(outcome) => Ok(Some(outcome)),
        Err(panic) => match panic.downcast_ref::<Stopped>() {
            Some(Stopped(None)) => Ok(None),
            Some(Stopped(Some(why))) => Err((*why).into()),
            None => Err(format!("panic: {}", message(panic.as_ref()))),
        },
    }
}

/// What a panic said.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("of no text").into()
}

/// A column that has a value which it cannot have.
fn out_of_range(config: &Config, outcome: &Outcome) -> Option<String> {
    const SLACK: f64 = 1e-9;
    let share = |value: f64| (-SLACK..=1.0 + SLACK).contains(&value);
    let amount = |value: f64| value >= 0.0 && value.is_finite();
    let mut found = None;
    let mut must = |holds: bool, what: &str, value: f64| {
        if !holds && found.is_none() {
            found = Some(format!("{what} {value}"));
        }
    };
    for node in &outcome.nodes {
        let shares = [
            ("transmitting", node.transmitting),
            ("receiving", node.receiving),
            ("sensing", node.sensing),
            ("idle", node.idle),
            ("nav_only", node.nav_only),
            ("busy_ratio", node.busy_ratio),
            ("routing airtime", node.routing.airtime),
            ("signalling airtime", node.signalling.airtime),
            ("node transmission_efficiency", node.transmission_efficiency.unwrap_or(1.0)),
        ];
        shares.into_iter().for_each(|(what, value)| must(share(value), what, value));
        must(amount(node.queue_mean), "queue_mean", node.queue_mean);
        must(node.queue_mean <= node.queue_max as f64 + SLACK, "queue_mean above queue_max", node.queue_mean);
        let service = node.service_delay_mean_s.unwrap_or(0.0);
        must(amount(service), "node service_delay_mean", service);
    }
    for flow in &outcome.flows {
        let quantiles = flow.delay;
        let amounts = [
            ("payload_airtime", Some(flow.payload_airtime)),
            ("delay mean", Some(quantiles.mean)),
            ("rtt_mean", flow.rtt_mean_s),
            ("window_mean", flow.window_mean),
            ("rate_mean", flow.rate_mean_bps),
            ("transfer_mean", flow.transfer_mean_s),
            ("service_delay_mean", flow.service_delay_mean_s),
            ("rts_retransmissions_mean", flow.rts_retransmissions_mean),
            ("rate_cv", flow.rate_cv),
            ("jitter", flow.jitter_s),
        ];
        amounts.into_iter().for_each(|(what, value)| {
            let value = value.unwrap_or(0.0);
            must(amount(value), what, value);
        });
        let shares = [
            ("loss_event_rate", flow.loss_event_rate),
            ("transmission_efficiency", flow.transmission_efficiency),
            ("flow busy_ratio", flow.busy_ratio),
            ("late_ratio", flow.video.and_then(|video| video.late_ratio)),
        ];
        shares.into_iter().for_each(|(what, value)| {
            let value = value.unwrap_or(0.0);
            must(share(value), what, value);
        });
        let ranks = [0.0, quantiles.p50, quantiles.p90, quantiles.p95, quantiles.p99, quantiles.max];
        must(ranks.is_sorted(), "quantiles of delay not sorted up to", quantiles.max);
        must(flow.delay.max <= config.duration.seconds(), "a delay longer than the run", flow.delay.max);
        let (timely, delivered) = (flow.timely_bytes, flow.delivered_bytes);
        must(timely <= delivered, "timely_bytes above delivered_bytes", timely as f64);
        must(
            delivered <= flow.sent_bytes.max(outcome.conservation.sent * 65_535),
            "delivered_bytes",
            delivered as f64,
        );
    }
    for link in &outcome.links {
        must(link.acknowledged <= link.data, "more acknowledged than data", link.acknowledged as f64);
    }
    for wire in &outcome.wires {
        // What was sent before the end of the warm-up may arrive after it.
        let sent = if config.warmup == Span::ZERO { wire.sent } else { u64::MAX };
        must(share(wire.utilisation), "utilisation", wire.utilisation);
        must(amount(wire.queue_mean), "queue_mean of a wire", wire.queue_mean);
        must(wire.delivered + wire.lost <= sent, "more delivered than sent on a wire", wire.delivered as f64);
    }
    for row in &outcome.series {
        let (loss, rate) = (row.loss_event_rate.unwrap_or(0.0), row.rate_bps.unwrap_or(0.0));
        must(share(loss), "loss_event_rate of a row", loss);
        must(amount(rate), "rate of a row", rate);
        must(
            share(row.transmission_efficiency.unwrap_or(0.0)),
            "transmission_efficiency of a row",
            row.time_s,
        );
    }
    for row in &outcome.measurements {
        must(share(row.busy_ratio), "true_busy_ratio", row.busy_ratio);
        let view = &row.view;
        let shares = [("estimated busy ratio", view.busy_ratio), ("R_FTE", view.transmission_efficiency)];
        shares
            .into_iter()
            .for_each(|(what, value)| must(share(value.unwrap_or(0.0)), what, value.unwrap_or(0.0)));
        let amounts = [
            ("capacity", view.capacity_bps),
            ("available", view.available_bps),
            ("packet throughput", view.packet_throughput_bps),
            ("service delay", view.service_delay_s),
        ];
        amounts
            .into_iter()
            .for_each(|(what, value)| must(amount(value.unwrap_or(0.0)), what, value.unwrap_or(0.0)));
    }
    found
}
