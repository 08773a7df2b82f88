"""`python -m validation [--quick] [FILE]`: runs all comparisons and writes the page."""

from __future__ import annotations

import argparse
from pathlib import Path

from validation import checks, page

ONE_LINK = """\
One saturated sender has no collisions. Its goodput is a packet every DIFS, mean back-off (15.5 slots) and exchange. The law
allows 0.1 %."""

BIANCHI = """\
Bianchi's model (IEEE JSAC 18(3), 2000) assumes that a busy period counts as a slot for those whose back-off it freezes, and
that all stations restart together after a collision. Under a rule set that says so (`mac.rules = "bianchi"`, no capture, no
retry limit), the law allows 1 % of throughput, and one percentage point of the collision probability. The rest is the model's
own approximation, that stations are independent: the chain that it approximates, played out, agrees with us better than the
model does (`crates/sim/tests/bianchi.rs`)."""

IEEE = """\
The standard differs from these assumptions: a frozen back-off counts idle slots only, so that the first slot after a busy
period belongs to those who drew zero just then, and colliders, who wait for a response in vain, restart before bystanders, who
wait EIFS. That is what is seen here."""

NS2 = """\
`mac.rules = "ns2"`. On the air, ns-2's packets carry 60 bytes more than their TCP payload (40 of headers, 20 that DSDV adds),
its UDP packets 20 more. A cell agrees if goodput is within 5 % or the intervals overlap, and the round-trip time within 10 %.
Round-trip times are the latest sample looked at every 100 ms, as ns-2's were."""

NS3 = """\
`mac.rules = "ieee"` and cumulative SINR with two-ray path loss. A cell agrees if goodput is within 10 % or the intervals
overlap, and likewise the round-trip time. What differs: ns-3 delays frames by distance and we by a constant, its error model
for 1 and 2 Mb/s is about 3 dB more optimistic than ours, and it needs 4 dB of SNR to take a preamble."""

RECN = """\
RECN's chain (He et al. 2017, Fig. 4 and Table 3): w1 to w4 in a row, 1 Mb/s, each flow fed with 800 kb/s, no background
traffic. The paper does not say where exactly its sources stand, so both readings are shown. Three mutually interfering hops at
1 Mb/s carry about 260 kb/s of 1000-byte packets in all; the paper's totals above that cannot come from this channel, whatever
the scheme. What is reproduced is the efficiency: near 0.75 with RECN, lower without. Here RECN costs some throughput, and it
does not make flows fairer: with marks in almost every window, a flow whose window is down to one segment waits for its
retransmission timer (RFC 3168, section 6.1.2), while others go on."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=Path("docs/validation.md"), help="where the page goes")
    parser.add_argument("--quick", action="store_true", help="few cells, few seeds")
    options = parser.parse_args()
    effort = checks.QUICK if options.quick else checks.FULL
    parts = {
        "One link": f"{ONE_LINK}\n\n{page.saturation(checks.one_link(effort), 'closed form')}",
        "Saturation: Bianchi's assumptions": _bianchi(BIANCHI, "bianchi", effort),
        "Saturation: the standard's rules": _bianchi(IEEE, "ieee", effort),
        "Saturation: ns-2": page.saturation(checks.ns2_cells(effort), "ns-2"),
        "Chains: ns-2": f"{NS2}\n\n{page.chains(checks.ns2_chains(effort), 'ns-2', 0.05)}",
        "Chains: ns-3": f"{NS3}\n\n{page.chains(checks.ns3_chains(effort), 'ns-3', 0.10)}",
        "RECN on its paper's chain": f"{RECN}\n\n{page.recn(checks.recn_chains(effort))}",
    }
    options.file.parent.mkdir(parents=True, exist_ok=True)
    options.file.write_text(page.page(parts, effort))
    print(f"wrote {options.file}")


def _bianchi(text: str, rules: str, effort: checks.Effort) -> str:
    return f"{text}\n\n{page.saturation(checks.bianchi_cells(rules, effort), 'model')}"


main()
