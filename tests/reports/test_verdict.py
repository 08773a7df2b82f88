"""What a comparison says first: each sentence on made-up results, with the numbers that it is made of."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import multihop
from conftest import CHAIN
from multihop.api.results import Comparison
from multihop.optima.optimum import distance, gap
from multihop.results.columns import METRIC
from multihop.results.words import signed, three_digits

NAMES = ["a->gw", "b->gw", "c->gw", "d->gw"]


def made_up(rates, lost=None, *, optimum=None, not_comparable=None, names=NAMES, without_path=()):
    """A comparison in which each variant has these goodputs in Mb/s: a row per seed, a column per flow."""
    about = {"app": "saturated", "offered_bps": None, "scheme": "tcp"}
    view = {"flows": [{**about, "name": n, "path": [] if n in without_path else [0, 1]} for n in names]}
    results = {}
    for variant, of_seeds in rates.items():
        made = []
        for seed, of_flows in enumerate(of_seeds):
            goodput = np.array(of_flows, dtype=float) * 1e6
            loss = np.array((lost or {}).get(variant, np.zeros(len(names))), dtype=float)
            frames = {f"video_frames_{how}": np.nan for how in ("on_time", "late", "lost", "skipped")}
            lost_packets, sent = np.nan_to_num(1000 * loss), np.where(np.isnan(loss), 0, 1000)
            counts = {"packets_lost": lost_packets, "packets_delivered": sent - lost_packets}
            columns = {"goodput_bps": goodput, "loss_ratio": loss, **counts, **frames}
            flows = pd.DataFrame({**columns, "delay_p95_s": 0.1})
            some = goodput[goodput > 0]
            summary = {
                "goodput_total_bps": goodput.sum(),
                "jain": float(some.sum() ** 2 / (len(goodput) * (goodput**2).sum())) if len(some) else float("nan"),
                "delay_p95_s": 0.1 if len(some) else float("nan"),
                "loss_ratio": float(loss[0]),
            }
            made.append(SimpleNamespace(seed=seed, flows=flows, summary=summary, view=view, overrides={}))
        results[variant] = tuple(made)
    comparison = Comparison(SimpleNamespace(), results)
    best = np.full(len(names), 1e6) if optimum is None else np.array(optimum) * 1e6
    fake = SimpleNamespace(
        rates_bps=best,
        shares=SimpleNamespace(offered_bps=np.full(len(names), np.inf)),
        not_comparable=not_comparable,
        distance=lambda rates: distance(rates, best),
        gap=lambda rates: gap(rates, best),
    )
    comparison.__dict__["optima"] = dict.fromkeys(results, fake)
    return comparison


def test_flows_that_are_dead_under_every_scheme_come_first():
    said = made_up({"tcp": [[1, 0, 1, 0], [1.1, 0, 1, 0]], "recn": [[1, 0, 2, 0], [1, 0, 2.1, 0]]}).verdict()
    assert said[0] == "Dead under every scheme: b->gw, d->gw (2 of 4 flows in all 2 seeds)."
    assert said[1].startswith("Goodput: recn 3.05 Mb/s, tcp 2.05 Mb/s. recn is better")
    assert "delay of what arrived (95th percentile)" in said[-2]
    assert said[-1] == ("What to do: `multihop explain` tries what helps; none of these schemes serves all flows.")


def test_flows_that_starve_under_every_scheme_come_next():
    said = made_up(
        {"tcp": [[1, 0, 1, 0.009], [1, 1, 1, 0.009]], "recn": [[1, 0, 1, 0.002], [1, 0, 1, 0.001]]}
    ).verdict()
    assert said[0] == (
        "Starving: with tcp in 2 of 2 seeds (d->gw in 2, b->gw in 1); with recn in 2 of 2 seeds (b->gw in 2, d->gw in "
        "2). A flow starves below 10 % of the fair share."
    )
    alone = made_up({"tcp": [[1, 0.001, 1, 1]]}).verdict()
    assert alone[0] == "Starving: b->gw. A flow starves below 10 % of the fair share."


def test_flows_that_starve_by_turns_are_seen_seed_by_seed():
    """Means of 0.5 Mb/s and a total that is better hide that one of the two has nothing under every seed."""
    said = made_up(
        {"tcp": [[1, 1], [1, 1.1], [1, 1]], "recn": [[2.4, 0], [0, 2.5], [2.4, 0.001]]}, names=["a", "b"]
    ).verdict()
    assert said[0] == (
        "Starving: with tcp in no seed; with recn in 3 of 3 seeds (b in 2, a in 1). A flow starves below 10 % of the "
        "fair share."
    )


def test_flows_that_some_schemes_serve_are_named_with_those_that_do_not():
    rates = {
        "udp": [[1, 0, 0, 1], [1, 0, 0, 1]],
        "tcp": [[1, 0, 1, 0.005], [1, 0, 1, 0.005]],
        "recn": [[1, 1, 1, 1], [1, 1, 1, 1]],
    }
    assert made_up(rates).verdict()[0] == (
        "Starving: with udp in 2 of 2 seeds (b->gw in 2, c->gw in 2); with tcp in 2 of 2 seeds (b->gw in 2, d->gw in "
        "2); with recn in no seed. A flow starves below 10 % of the fair share."
    )


def test_without_an_optimum_flows_are_held_against_those_that_want_the_same():
    said = made_up({"tcp": [[1, 0.001, 1, 0], [1, 0.001, 1, 1]]}, not_comparable="nodes move").verdict()
    assert said[0] == (
        "Starving: in 2 of 2 seeds (b->gw in 2, d->gw in 1). A flow starves below 10 % of the mean of flows with equal "
        "demand."
    )


def test_a_dead_flow_without_a_route_has_its_reason():
    said = made_up({"tcp": [[1, 0, 1, 1]]}, without_path=["b->gw"]).verdict()
    assert said[0] == "Dead: b->gw (no route) (1 of 4 flows)."


def test_many_dead_flows_are_counted():
    names = [f"n{i}" for i in range(20)]
    said = made_up({"tcp": [[1] + [0] * 19]}, names=names).verdict()
    assert "n8, 11 more (19 of 20 flows)" in said[0]
    assert said[1].startswith("Goodput: 1 Mb/s; fairness of goodput: ")


def test_nothing_is_said_of_starvation_where_there_is_none():
    said = made_up({"tcp": [[1, 1, 1, 1]] * 3, "recn": [[1, 1, 1, 1]] * 3}).verdict()
    values = "goodput tcp 4 Mb/s, recn 4 Mb/s; fairness of goodput tcp 1, recn 1"
    assert said[0] == f"No significant difference: {values}; delay (95th percentile) tcp 100 ms, recn 100 ms."
    assert said[1] == "What to do: any of these schemes will do, or more seeds: no difference is beyond chance."


def test_no_difference_is_said_once_after_what_differs():
    tcp = [[1.0, 1, 1, 1 + 0.001 * seed] for seed in range(4)]
    recn = [[1.5, 1.5, 1.5, 1.5 - 0.001 * seed] for seed in range(4)]
    said = made_up({"tcp": tcp, "recn": recn}).verdict()
    assert said[0].startswith("Goodput: recn 6 Mb/s, tcp 4 Mb/s. recn is better than tcp by 2 Mb/s (+50 %).")
    assert said[1].startswith("No significant difference: fairness of goodput ")
    assert sum("no significant difference" in sentence.lower() for sentence in said) == 1


def test_those_that_cannot_be_distinguished_from_the_best_are_one_clause():
    rng = np.random.default_rng(1)
    rates = {
        name: [[mean + 0.01 * rng.standard_normal()] * 4 for _ in range(6)]
        for name, mean in {"x": 1.0, "y": 1.0, "z": 1.0, "slow": 0.5}.items()
    }
    goodput = made_up(rates).verdict()[0]
    assert goodput.count("cannot be distinguished") == 1
    assert "than slow by" in goodput


def test_one_seed_decides_nothing_and_that_is_said_once():
    said = made_up({"tcp": [[1, 1, 1, 1]], "recn": [[2, 2, 2, 2]]}).verdict()
    assert said[1] == "What to do: repeat with --seeds 10 before choosing a scheme."
    assert said[0].startswith("Undecided: goodput recn 8 Mb/s, tcp 4 Mb/s; fairness of goodput ")
    assert said[0].endswith("One seed cannot tell whether differences are more than chance; use --seeds 10 or more.")


def test_nothing_at_all_is_nothing_to_compare():
    said = made_up({"tcp": [[0, 0, 0, 0]] * 2, "recn": [[0, 0, 0, 0]] * 2}).verdict()
    assert said[0].startswith("Dead under every scheme: a->gw, b->gw, c->gw, d->gw (4 of 4 flows in all 2 seeds)")
    assert "Delay of what arrived (95th percentile): nothing was delivered, so there is nothing to compare." in said


def test_losses_are_of_the_packets_of_all_seeds_and_of_the_flow_that_loses_most():
    lost = {"tcp": [0.01, 0.02, 0.9, np.nan], "recn": [0.0, 0.0, 0.0, 0.0]}
    said = made_up({"tcp": [[1, 1, 1, 1]] * 2, "recn": [[1, 1, 1, 1]] * 2}, lost).verdict()
    assert said[-2] == "Packets lost, all seeds together: tcp 31 %, at most 90 % (c->gw)."


def test_a_seed_with_few_packets_weighs_little_in_losses():
    """Half of ten packets lost in one seed, none of a million in the other: not a quarter."""
    found = made_up({"tcp": [[1, 1], [1, 1]]}, names=["a", "b"])
    for run, lost, arrived in zip(found.results["tcp"], (5, 0), (5, 999_990), strict=True):
        run.flows["packets_lost"], run.flows["packets_delivered"] = [lost, 0], [arrived, 10]
    assert found.loss_ratios("tcp").tolist() == pytest.approx([5e-6, 0.0, 5 / 1_000_020])
    assert "Packets lost, all seeds together: < 0.01 %, at most < 0.01 % (a)." in found.verdict()


def test_the_scheme_to_take_is_said_with_counts_and_its_price():
    """tcp starves two flows and carries more; recn serves all."""
    tcp = [[3, 3, 0.01, 0.01 + 0.001 * seed] for seed in range(4)]
    recn = [[1, 1, 1, 1 + 0.001 * seed] for seed in range(4)]
    said = made_up({"tcp": tcp, "recn": recn}).verdict()
    assert said[-1] == "What to do: take recn: all flows are fine. Its price: goodput 4 Mb/s, with tcp 6.02 Mb/s."
    some = [[1, 1, 1, 0.01 + 0.001 * seed] for seed in range(4)]
    said = made_up({"tcp": tcp, "recn": some}).verdict()
    best = "What to do: `multihop explain` tries what helps. Best of these schemes is "
    assert said[-1].startswith(f"{best}recn: 1 flow is starving (2 under tcp). Its price: ")
    alone = made_up({"tcp": [[0.01]] * 2, "recn": [[0.3]] * 2}, names=["a"], optimum=[1]).verdict()
    assert alone[-1].startswith(f"{best}recn: the flow is slow, not starving.")
    assert "what its path can carry" in alone[0], "one flow shares with nobody"


def test_a_difference_that_no_user_notices_is_none():
    def delays(found, of):
        for variant, seconds in of.items():
            for seed, run in enumerate(found.results[variant]):
                run.summary["delay_p95_s"] = seconds + 1e-6 * seed
        return next(said for said in found.verdict() if said.startswith("Delay"))

    rates = {name: [[1, 1, 1, 1 + 0.001 * seed] for seed in range(4)] for name in ("x", "y", "z")}
    near = delays(made_up(rates), {"x": 0.0220, "y": 0.0224, "z": 0.0318})
    assert near.endswith("x is better than z by 9.8 ms (-31 %). x and y are practically equal.")
    assert delays(made_up(rates), {"x": 0.0220, "y": 0.0224, "z": 0.0228}).endswith("They are practically equal.")


def test_distance_and_gap_are_explained_beside_their_first_use():
    (sentence,) = made_up({"tcp": [[0.9, 0.9, 0.9, 0.9]]}).about_optimum()
    for words in ("proportionally fair", "distance is |x - x*| / |x*|", "gap what is missing of the geometric mean"):
        assert words in sentence
    _, far = made_up({"tcp": [[9, 1, 1, 1]], "recn": [[1, 1, 1, 1]]}).about_optimum()[:2]
    assert far.startswith("Distance above 100 % (tcp): ")


def test_a_negative_gap_is_explained_in_place():
    said = made_up({"tcp": [[1.1, 1.1, 1.1, 1.1]], "recn": [[1, 1, 1, 1.001]]}).about_optimum()
    assert said[1].startswith("Gap below 0 (tcp -10 %): flows carried more than that optimum.")
    assert "count their back-offs down together" in said[1]


def test_where_there_is_no_optimum_the_reason_is_all():
    said = made_up({"tcp": [[1, 1, 1, 1]]}, not_comparable="nodes move").about_optimum()
    assert said == ["Optimum: not drawn, as nodes move."]


@pytest.mark.parametrize("schemes", [["udp"], ["udp", "tcp-newreno"]])
def test_the_command_and_the_report_say_the_same(schemes, tmp_path, inline):
    (tmp_path / "s.toml").write_text(CHAIN.replace('name = "long"', 'name = "long"\nstart = "4.9999 s"'))
    shown = inline("compare", "s.toml", "--schemes", ",".join(schemes), "--seeds", "2", "-q", "--report", "r.html")
    under = " under every scheme" if len(schemes) > 1 else ""
    dead = f"Dead{under}: long (1 of 2 flows in all 2 seeds)."
    assert dead in shown.out.splitlines()
    assert shown.out.index(dead) < shown.out.index("goodput Mb/s (packets lost)") < shown.out.index("Total goodput")
    page = (tmp_path / "r.html").read_text()
    assert f"<b>Dead{under}.</b> long (1 of 2 flows" in page
    page = multihop.compare(CHAIN, ["udp"], seeds=2).report(tmp_path / "all.html").read_text()
    assert "gap what is missing of the geometric mean" in page


def test_of_many_flows_those_that_got_least_are_printed(tmp_path, inline):
    flows = "".join(f'[[flows]]\nname = "f{i}"\nfrom = "n0"\nto = "n1"\nscheme = "udp"\n' for i in range(14))
    (tmp_path / "s.toml").write_text(CHAIN.partition("[[flows]]")[0] + flows)
    shown = inline("compare", "s.toml", "--schemes", "udp", "--seeds", "1", "--duration", "2 s", "-q")
    assert "these 12 of 14 flows have the lowest goodput; --out and --json list all" in shown.out
    assert sum(line.startswith("f") for line in shown.out.splitlines()) == 12


@pytest.mark.parametrize(
    ("value", "shown"), [(3153.2, "3150"), (999.9, "1000"), (-2.5e6, "-2500000"), (0.01234, "0.0123"), (0.0, "0")]
)
def test_large_numbers_have_three_digits_and_no_exponent(value, shown):
    assert three_digits(value) == shown


def test_differences_have_a_sign():
    metric = METRIC["delay_p50_s"]
    shown = [signed(metric, difference) for difference in (0.0021, -0.0021, 0.0, -0.0, 3.1532)]
    assert shown == ["+2.1", "-2.1", "0", "0", "+3150"]
