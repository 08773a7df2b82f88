"""Path of a packet in words: queues, wires, and radios of one node."""

import pytest

import multihop
from conftest import SCENARIOS
from multihop.framelog import packed
from multihop.report.viewer import page

#: Adds ingresses, entries or radios to the model, then follows a delivered packet of the first flow.
FOLLOWED = """(add) => {
  const { viewer } = document.querySelector(".viewer-host");
  const { model } = viewer;
  const isOfPacket = (i) => model.flow[i] === 0 && model.packet[i] === 40 && model.carries[i] === 1;
  const frames = [...model.start.keys()].filter(isOfPacket);
  const last = frames.findLast((i) => model.kind[i] === 2);
  const start = model.contends[frames.find((i) => model.contends[i] >= 0)];
  const places = { frames, start, end: model.end[last], from: model.from[frames[0]] };
  const { ingress, entries, radios } = new Function("model", "places", `return ${add}`)(model, places);
  const columns = (rows, names) => {
    const typed = names.map((name, at) => [name, Float64Array.from(rows, (row) => row[at])]);
    return { rows: rows.length, columns: Object.fromEntries(typed) };
  };
  model.tables.ingress = columns(ingress, ["flow", "carries", "node", "from"]);
  model.tables.entries = columns(entries, ["ingress", "packet", "time"]);
  (radios || []).forEach((of, node) => { model.head.nodes[node].radio_of = of; });
  viewer.follow({ flow: 0, carries: 1, packet: 40 });
  return [...viewer.words.querySelectorAll("li")].map((line) => line.innerText.replace(/^[\\d.]+ s /, ""));
}"""


@pytest.fixture
def followed(shown, tmp_path):
    log = tmp_path / "chain.frames"
    multihop.run(SCENARIOS / "chain.toml", duration="4 s", warmup="0 s", frames=log)
    file = tmp_path / "chain.html"
    file.write_text(page(packed(log).data, "chain"), encoding="utf-8")

    def follow(add):
        tab = shown(file.as_uri())
        tab.wait_for_selector(".viewer > canvas")
        return tab.evaluate(FOLLOWED, add)

    return follow


def test_the_path_begins_in_the_queue_of_the_source(followed):
    lines = followed(
        "({ ingress: [[0, 1, places.from, places.from]], entries: [[0, 40, places.start - 25e6], [0, 41, 0]] })"
    )
    assert lines[:2] == ["n0 generated the packet.", "The packet waited in the queue of n0 for 25 ms."]
    assert "n0 sent " in lines[2]
    assert sum(line.startswith("The packet waited in the queue of n0") for line in lines) == 1


def test_a_wire_is_a_hop_and_may_be_the_last(followed):
    """The flow ends at a host behind the last receiver."""
    lines = followed(
        "(() => { const end = model.head.flows[0].destination; model.head.flows[0].destination = 1;"
        "return { ingress: [[0, 1, 1, end]], entries: [[0, 40, places.end + 3e6]] }; })()"
    )
    hop = next(line for line in lines if "over the wire" in line)
    assert hop.startswith("The packet reached n1 over the wire from n")
    assert "3 ms after its arrival there: queue, transmission and propagation." in hop
    assert "The packet was delivered to n1." in lines
    assert not any("The log does not contain the end" in line for line in lines)


def test_another_radio_of_a_node_has_its_own_queue(followed):
    """n1 receives the packet; n2, a radio of the same node, forwards it."""
    lines = followed(
        "(() => { model.head.nodes.forEach((node, at) => { node.radio_of = at; }); const radios = [0, 1, 1];"
        "places.frames.forEach((i) => { if (model.from[i] === 1) model.packet[i] = 0; });"
        "return { ingress: [], entries: [], radios }; })()"
    )
    assert any(line.startswith("The packet waited in the queue of n2 for ") for line in lines)
