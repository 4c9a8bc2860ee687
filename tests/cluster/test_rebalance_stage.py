"""How the bench of rebalancing follows its job: phases as they end, what the agent tells then, the nodes it needs."""

import asyncio
import json
import subprocess

import pytest

from agent import plugin
from bench import rebalance_stage, rebalance_tasks
from bench.rebalance_stage import Way
from demo import streamjobs
from house import trouble
from sluice_agent import batches, board, heard, metrics, tally
from testbed import cluster

OURS = {"mode": "Act"}
WAYS = (Way("stock", 3), Way("lever", 3, rebalance=OURS))


class FakeKube:
    """A cluster with a driver that has said all it will say; its agent has measured some batches."""

    def __init__(self, said="", *ended):
        self.said, self.patched = said, []
        self._tally = tally.Tally(lambda: 0.0)
        for one in ended:
            self._tally.add(batches.read(one))

    def kubectl(self, *words):
        if "patch" in words:
            self.patched.append(json.loads(words[-1])["spec"]["rebalance"])
        if words[-1].endswith("/pods/driver-1:7080/proxy/metrics"):
            return asyncio.run(self._page())
        return self.said if "logs" in words else json.dumps({"status": {"driver": {"pod": "driver-1"}}})

    def begin(self, *_):
        return subprocess.Popen(["printf", "%s", self.said], stdout=subprocess.PIPE, text=True)

    async def _page(self):
        states = heard.Heard(lambda: 0.0)
        return metrics.Metrics({"streamjob": "balanced"}, self._tally, states, board.Board(states.ring)).text()


def job(kube):
    return streamjobs.Job(kube, "bench", "balanced")


def lines(*said):
    return "".join(f"{json.dumps(one) if isinstance(one, dict) else one}\n" for one in said)


def phase(number, name, *took_s):
    return {"begins": number, "name": name}, {"ended": number, "name": name, "took_s": took_s}


def test_each_phase_is_handed_out_as_it_ends_with_hands_laid_on_as_it_begins():
    said = lines("WARN of Spark's", *phase(0, "stock", 2.0, 2.1), {"batch": 2}, *phase(1, "lever", 1.0), {"over": 2})
    kube = FakeKube(said)
    followed = rebalance_stage.follow(job(kube), WAYS, 2)
    assert next(followed) == ("stock", [2.0, 2.1])
    assert kube.patched == [rebalance_stage.OBSERVED]
    assert list(followed) == [("lever", [1.0])]
    assert kube.patched == [rebalance_stage.OBSERVED, OURS]


def test_a_log_that_ends_before_its_last_word_is_no_measurement():
    kube = FakeKube(lines(*phase(0, "stock", 2.0), "java.lang.OutOfMemoryError"))
    with pytest.raises(trouble.Trouble, match=r"(?s)ended before its last phase: .*OutOfMemoryError"):
        list(rebalance_stage.follow(job(kube), WAYS, 2))


def test_the_sums_of_a_query_are_what_its_agent_has_measured_of_it():
    other = plugin.batch(7, name="other", query="q-2")
    kube = FakeKube("", plugin.batch(42), plugin.batch(43, executors={"2": plugin.work(runMs=1000)}), other)
    found = rebalance_tasks.sums(job(kube), "clicks")
    assert (found["batches"], found["batch"]) == (2, 43)
    assert {name: part["run_s"] for name, part in found["executors"].items()} == pytest.approx({"1": 0.4, "2": 1.4})
    assert {name: part["rows"] for name, part in found["executors"].items()} == {"1": 100, "2": 200}
    assert rebalance_tasks.cpu_s(found) == pytest.approx(0.45)
    assert rebalance_tasks.ran_s(found) == pytest.approx((1.8 + 0.09) / 2)
    assert rebalance_tasks.own_share(found) == pytest.approx(0.0014 / 0.46)
    assert rebalance_tasks.busy_cores(found) == pytest.approx(0.9 / 0.36)


def test_a_query_that_the_agent_has_forgotten_has_no_sums():
    with pytest.raises(trouble.Trouble, match="the agent tells nothing of clicks"):
        rebalance_tasks.sums(job(FakeKube("", plugin.batch(name="other"))), "clicks")


def test_too_few_nodes_are_told_with_the_remedy_before_anything_is_made(monkeypatch):
    made = []
    monkeypatch.setattr(rebalance_stage.target, "connect", lambda: None)
    monkeypatch.setattr(rebalance_stage.operators, "Operator", lambda *words: made.append(words))
    monkeypatch.setattr(cluster.Cluster, "nodes", ["node1", "node2", "node3"])
    with pytest.raises(trouble.Trouble) as said, rebalance_stage.running(1, 1, (), {}):
        pass
    remedy = "make down, then PYTHONPATH=tests python3 -m testbed up --nodes 4"
    assert (str(said.value), made) == (f"rebalance needs 4 nodes, 3 are up: {remedy}", [])
