"""TCP over wires that lose packets at random, against the throughput equation."""

import math

import pytest

import multihop
from conftest import SCENARIOS
from multihop.models import throughput_equation

#: There and back, with what the four wires need to send a packet and its acknowledgement.
RTT = 0.0507


@pytest.mark.parametrize("loss", [0.001, 0.003, 0.01, 0.03])
def test_tcp_is_within_a_fifth_of_the_equation(loss):
    given = {"topology.loss": loss, "schemes.tested.min_rto": "200 ms", "schemes.tested.delayed_ack": "0 s"}
    runs = [multihop.run(SCENARIOS / "lossy-wire.toml", seed=seed, set=given) for seed in (1, 2, 3, 4)]
    found = sum(run.flows["goodput_bps"].item() for run in runs) / len(runs)
    assert found == pytest.approx(throughput_equation(RTT, loss)["rate_bps"], rel=0.2)
    lost = [run.wires.query("loss > 0") for run in runs]
    assert all(len(rows) == 1 for rows in lost), "acknowledgements are not lost"
    sent, gone = (sum(rows[column].item() for rows in lost) for column in ("sent", "lost"))
    assert abs(gone - loss * sent) < 4 * math.sqrt(loss * sent)
    assert gone == sum(run.flows["dropped_wire_loss"].item() for run in runs)
