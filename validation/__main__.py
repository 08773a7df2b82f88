"""`python -m validation [--quick] [FILE]`: runs all comparisons and writes the page."""

from __future__ import annotations

import argparse
from pathlib import Path

from multihop import __version__
from validation import aggregation, checks, interference, page
from validation.ns3 import aggregates, sinr


def main() -> None:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("docs/results/validation.md"), help="where the page goes"
    )
    parser.add_argument("--quick", action="store_true", help="few cells, few seeds")
    options = parser.parse_args()
    effort = checks.QUICK if options.quick else checks.FULL
    text = page.fill(
        version=__version__,
        seeds=str(effort.seeds),
        seconds=str(effort.seconds),
        routed_seeds=str(checks.ROUTED_SEEDS),
        one_link=page.saturation(checks.one_link(effort), "closed form"),
        bianchi=page.saturation(checks.bianchi_cells("bianchi", effort), "model"),
        ieee=page.saturation(checks.bianchi_cells("ieee", effort), "model"),
        ns2_cells=page.saturation(checks.ns2_cells(effort), "ns-2"),
        ns2_chains=page.chains(checks.ns2_chains(effort), "ns-2", 0.05),
        dsdv_chains=page.chains(checks.ns2_dsdv_chains(effort), "ns-2", 0.05),
        dsdv_recn=page.recn_dsdv(checks.recn_dsdv_chains(effort)),
        ns3_chains=page.chains(checks.ns3_chains(effort), "ns-3", 0.10),
        xcp_chains=page.xcp(checks.ns2_xcp_chains(2 * effort.seeds)),
        interference=page.interference(interference.compared(2 * effort.seeds)),
        erp=page.interference(interference.compared(2 * effort.seeds, sinr.ERP_CELLS)),
        aggregates_model=page.aggregation(aggregation.fixed_point(effort.seeds), "model"),
        aggregates_saturated=page.aggregation(
            aggregation.compared(aggregates.SATURATED, effort.seeds, aggregation.SATURATED), "ns-3"
        ),
        aggregates_lossy=page.aggregation(
            aggregation.compared(aggregates.LOSSY, effort.seeds, aggregation.LOSSY), "ns-3"
        ),
        aggregates_paced=page.aggregation(
            aggregation.compared(aggregates.PACED, effort.seeds, aggregation.LOSSY), "ns-3"
        ),
        aggregates_chains=page.aggregation(
            aggregation.compared(aggregates.CHAINS, effort.seeds, aggregation.CHAINS), "ns-3"
        ),
        recn_ns2=page.recn(checks.recn_chains(effort, "ns2")),
        recn_rfc=page.recn(checks.recn_chains(effort, "rfc")),
    )
    options.file.parent.mkdir(parents=True, exist_ok=True)
    options.file.write_text(text)
    print(f"wrote {options.file}")


main()
