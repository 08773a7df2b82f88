"""Environments: the APIs of Gymnasium and PettingZoo, determinism, and policies beside schemes."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import parallel_api_test  # noqa: E402

import multihop  # noqa: E402
import multihop.learning as learning  # noqa: E402
from multihop.learning.observations import OBSERVATIONS  # noqa: E402

CHAIN = {
    "duration": "10 s",
    "phy": {"standard": "802.11b", "data_rate": "11 Mb/s"},
    "topology": {"generator": "chain", "hops": 3},
    "flows": [
        {"name": "one", "from": "n0", "to": "n3", "scheme": "tcp-newreno"},
        {"name": "two", "from": "n3", "to": "n0", "scheme": "tcp-newreno"},
    ],
}


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"flow": "two", "actions": "pace", "observations": list(OBSERVATIONS)},
        {"actions": "both", "factors": [0.5, 1.0, 2.0], "reward": "power"},
        {"interval": None, "factors": [0.8, 1.25], "reward": lambda interval: -interval.rtt_s},
    ],
)
def test_gymnasium_accepts_the_environment(keywords):
    env = gymnasium.make(learning.ENVIRONMENT, scenario=CHAIN, **keywords)
    check_env(env.unwrapped)


def test_pettingzoo_accepts_the_environment():
    parallel_api_test(learning.parallel_env(CHAIN), num_cycles=50)


def episode(seed, **keywords):
    env = learning.CongestionControl(CHAIN, flow="one", **keywords)
    observed, _ = env.reset(seed=seed)
    rng, steps, over = np.random.default_rng(1), [observed], False
    while not over:
        observed, reward, ended, over, _ = env.step(rng.uniform(-1, 1, env.action_space.shape))
        steps.append(np.append(observed, reward))
        assert not ended
    return np.concatenate(steps), env.result()


def test_an_episode_of_a_seed_is_bit_identical_and_lasts_as_the_run():
    (first, result), (again, _), (other, _) = episode(3), episode(3), episode(4)
    assert (first == again).all()
    assert first.shape == other.shape
    assert (first != other).any()
    assert len(first) == 6 + 100 * 7, "zeros, and a step per tenth of a second"
    assert result.flows.set_index("name").scheme["two"] == "tcp-newreno", "other flows keep their schemes"


def test_goodput_of_the_steps_is_that_of_the_run():
    steps, result = episode(3, observations=["goodput"])
    acknowledged = steps[1::2].mean()
    delivered = result.flows.set_index("name").goodput_bps["one"] / 1e6
    assert delivered * 0.94 < acknowledged <= delivered, "what was delivered last is not acknowledged yet"


def test_scenarios_are_drawn_from_a_distribution():
    hops = []

    def drawn(rng):
        hops.append(int(rng.integers(1, 6)))
        flows = [{"name": "one", "from": "n0", "to": f"n{hops[-1]}", "scheme": "tcp-newreno"}]
        return {**CHAIN, "topology": {"generator": "chain", "hops": hops[-1]}, "flows": flows}

    env = learning.CongestionControl(drawn, duration="1 s")
    for seed in range(8):
        env.reset(seed=seed)
    assert len(set(hops)) > 2
    before = hops[3]
    env.reset(seed=3)
    assert hops[-1] == before


def test_vectorised_environments_are_gymnasiums():
    envs = gymnasium.make_vec(learning.ENVIRONMENT, num_envs=2, scenario=CHAIN)
    observed, _ = envs.reset(seed=[1, 2])
    assert observed.shape == (2, 6)
    envs.step(envs.action_space.sample())
    envs.close()


def test_a_policy_is_a_controller_that_does_as_in_its_environment():
    env = learning.CongestionControl(CHAIN, flow="one", factors=[0.5, 1.0, 1.5], interval=0.2)

    def policy(observed):
        return 2 if observed[1] < 0.1 else 0

    observed, _ = env.reset(seed=7)
    over = False
    while not over:
        observed, _, _, over, _ = env.step(policy(observed))
    learned = learning.controller_of(policy, factors=[0.5, 1.0, 1.5], interval=0.2)
    compared = multihop.compare(CHAIN, ["tcp-newreno", learned], seeds=[7], vary="one")
    row = compared.flows.query("variant == 'Learned' and name == 'one'")
    assert row.goodput_bps.item() == pytest.approx(env.result().flows.set_index("name").goodput_bps["one"], rel=0.05)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"observations": ["goodputt"]}, "observations: found 'goodputt'; did you mean \"goodput\""),
        ({"observations": []}, "observations: found \\(\\); needs a list"),
        ({"actions": "windows"}, "actions: found 'windows'; needs window, pace, both"),
        ({"factors": [1.0]}, "factors: found \\[1.0\\]; needs at least two positive numbers"),
        ({"reward": "delay"}, "reward: found 'delay'"),
        ({"interval": 0}, "interval: found 0; needs seconds from 1e-6"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(keywords, message):
    with pytest.raises(multihop.UserError, match=message):
        learning.CongestionControl(CHAIN, **keywords)


def test_bad_actions_and_flows_are_refused_in_a_sentence():
    env = learning.CongestionControl(CHAIN)
    with pytest.raises(multihop.UserError, match="call reset first"):
        env.step([0.0])
    env.reset(seed=1)
    for action in ([np.nan], [0.0, 1.0]):
        with pytest.raises(multihop.UserError, match=r"action: found .* needs an element of Box"):
            env.step(action)
    with pytest.raises(multihop.UserError, match="flow: found 'three'"):
        learning.CongestionControl(CHAIN, flow="three").reset(seed=1)


def test_by_default_the_agent_is_the_first_flow_and_others_keep_their_schemes():
    env = learning.CongestionControl(CHAIN, duration="1 s")
    env.reset(seed=1)
    env.step([0.0])
    schemes = env.result().flows.set_index("name").scheme
    assert schemes["two"] == "tcp-newreno"
    assert schemes["one"] != "tcp-newreno"
