"""A StreamJob's spec, read with every default filled in."""

import pytest

from sluice.values import streamjob

SMALLEST = {"image": "clicks:1", "application": {"file": "local:///a.py"}, "checkpoint": {"location": "s3a://b/c"}}


def test_the_smallest_spec_is_one_small_executor_placed_by_the_default_policy_and_restarted_for_ever():
    assert streamjob.read_spec(SMALLEST) == streamjob.Spec(
        image="clicks:1",
        application=streamjob.Application("local:///a.py"),
        checkpoint=streamjob.Checkpoint("s3a://b/c"),
        driver=streamjob.Driver(cores=1, memory_bytes=1 << 30),
        executors=streamjob.Executors(count=1, cores=1, memory_bytes=1 << 30),
        placement=streamjob.Placement("Act", "consolidate", {}, 12),
        restart=streamjob.Restart("Always", 5.0, 300.0),
    )


def test_every_field_is_read():
    spec = streamjob.read_spec(
        SMALLEST
        | {
            "application": {"file": "local:///a.jar", "mainClass": "A", "args": ["x"], "packages": ["g:a:1"]},
            "checkpoint": {"location": "/c", "volume": {"persistentVolumeClaim": {"claimName": "state"}}},
            "imagePullSecrets": [{"name": "pull"}],
            "serviceAccount": {"annotations": {"role": "r"}},
            "mode": "RealTime",
            "executors": {"count": 4, "min": 2, "max": 8, "maxPerNode": 2, "cores": 2, "memory": "2Gi"},
            "slo": {"batchLatency": "2s", "lag": 1000},
            "placement": {"mode": "Observe", "policy": "stromax", "near": {"matchLabels": {"app": "kafka"}}},
            "rebalance": {
                "mode": "Off",
                "lever": {"enabled": False},
                "latency": {"enabled": False, "by": "p99"},
                "timeout": {"enabled": False},
            },
            "update": {"strategy": "Recreate", "drainTimeout": "90s"},
            "restart": {"policy": "OnFailure", "backoff": {"initial": "1s", "max": "1m"}},
            "suspend": True,
        }
    )
    assert not spec.application.is_python
    assert (spec.checkpoint.claim, spec.image_pull_secrets, spec.account.annotations) == (
        "state",
        ("pull",),
        {"role": "r"},
    )
    assert (spec.real_time, spec.suspend) == (True, True)
    assert spec.rebalance == streamjob.Rebalance("Off", lever=False, latency=False, by="p99", timeout=False)
    assert spec.executors == streamjob.Executors(4, 2, 8, 2, 2, 2 << 30)
    assert spec.slo == streamjob.Slo(2.0, 1000)
    assert spec.placement == streamjob.Placement("Observe", "stromax", {"matchLabels": {"app": "kafka"}})
    assert spec.update == streamjob.Update("Recreate", 90.0)
    assert spec.restart == streamjob.Restart("OnFailure", 1.0, 60.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"driver": {"memory": "1 Gi"}}, "spec.driver.memory='1 Gi': allowed is a quantity"),
        ({"slo": {"batchLatency": "fast"}}, "spec.slo.batchLatency='fast': allowed is a duration"),
        ({"application": {}}, "spec.application.file is missing"),
    ],
)
def test_what_is_wrong_is_named_with_its_value_and_what_is_allowed(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        streamjob.read_spec(SMALLEST | change)
