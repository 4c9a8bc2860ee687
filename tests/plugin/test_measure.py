"""Each batch is measured: who did what, who got whose bytes, how far behind; and what measuring itself cost."""

import pytest

from plugin import drivers
from plugin.test_drain import at_least


@pytest.mark.matrix
def test_a_batch_says_who_worked_and_what_went_between_executors(fake_agent, tmp_path):
    job = drivers.Job(tmp_path / "job", state="aggregation", sink="noop", master="local-cluster[2,1,1024]")
    with drivers.Driver(job, "a", fake_agent.folder):
        fake_agent.wait(at_least(6), 300)
    batches = [batch for batch in fake_agent.batches if batch["rows"] > 0]
    assert {executor for batch in batches for executor in batch["executors"]} == {"0", "1"}
    for batch in batches:
        work = batch["executors"].values()
        assert sum(one["rows"] for one in work) == batch["rows"]
        assert batch["name"] == "q0"
        assert batch["state"]["operators"] == 1
        assert batch["sources"][0]["source"]
        shuffled = batch["shuffledBytes"]
        for executor, one in batch["executors"].items():
            came = {start: to.get(executor, 0) for start, to in shuffled.items()}
            assert came.get(executor, 0) == one["localBytes"]
            assert abs(sum(came.values()) - one["localBytes"] - one["remoteBytes"]) <= 1
    shares = sorted(batch["ownUs"] / 1000 / max(1, batch["batchMs"]) for batch in batches[1:])
    print(f"own time: {[batch['ownUs'] for batch in batches]} µs, shares {[round(share, 4) for share in shares]}")
    assert shares[len(shares) // 2] <= 0.01
