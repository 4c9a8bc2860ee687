"""The pod's memory is all that is asked for; the table is what Java and what is beside it get of it."""

import hypothesis
import pytest
from hypothesis import strategies as st

from build import jobs
from sluice.build import memory

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("pod", "python", "heap", "overhead"),
    [
        (640 * MIB, False, 450, 190),  # the smallest pod: no less heap than Spark starts with
        (768 * MIB, True, 450, 318),
        (1 * GIB, False, 640, 384),
        (1 * GIB, True, 640, 384),
        (2 * GIB, False, 1664, 384),
        (2 * GIB, True, 1462, 586),
        (4 * GIB, True, 2925, 1171),
        (8 * GIB, False, 7447, 745),
        (8 * GIB, True, 5851, 2341),
        (1_000_000_000, False, 569, 384),
    ],
)
def test_heap_and_overhead_add_up_to_the_pod(pod, python, heap, overhead):
    found = memory.split("executor", pod, python, {})
    assert found == memory.Split(heap, overhead)
    assert found.pod == pod >> 20


@pytest.mark.parametrize(
    ("conf", "heap", "overhead", "off_heap"),
    [
        ({"spark.executor.memoryOverhead": "1g"}, 3072, 1024, 0),
        ({"spark.executor.memoryOverhead": "512"}, 3584, 512, 0),
        ({"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g"}, 2688, 384, 1024),
        ({"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1073741824"}, 2688, 384, 1024),
        ({"spark.memory.offHeap.enabled": "false", "spark.memory.offHeap.size": "1g"}, 3712, 384, 0),
        ({"spark.driver.memoryOverhead": "1g"}, 3712, 384, 0),
    ],
)
def test_what_the_user_says_of_overhead_counts_and_the_heap_is_the_rest(conf, heap, overhead, off_heap):
    assert memory.split("executor", 4 * GIB, False, conf) == memory.Split(heap, overhead, off_heap)


@pytest.mark.parametrize(
    ("role", "pod", "conf", "sentence"),
    [
        ("executor", 512 * MIB, {}, r"spec.executors.memory=512Mi: allowed is 640Mi and more"),
        ("driver", 512 * MIB, {}, r"spec.driver.memory=512Mi: allowed is 640Mi and more"),
        ("executor", GIB, {"spark.executor.memoryOverhead": "1g"}, r"executors.memory=1024Mi: allowed is 1474Mi"),
        (
            "executor",
            GIB,
            {"spark.executor.memoryOverhead": "lots"},
            r"Overhead\]='lots': allowed is a size",
        ),
    ],
)
def test_too_little_memory_is_refused_with_what_would_do(role, pod, conf, sentence):
    with pytest.raises(ValueError, match=sentence):
        memory.split(role, pod, False, conf)


@hypothesis.given(st.integers(0, 1 << 42), st.booleans(), st.sampled_from(["driver", "executor"]))
def test_whatever_the_pod_the_parts_are_the_whole_or_it_is_refused(pod, python, role):
    try:
        found = memory.split(role, pod, python, {})
    except ValueError:
        assert pod < 640 * MIB
        return
    assert found.pod == pod >> 20
    assert found.heap >= memory.SMALLEST_HEAP_MIB


def test_spark_is_told_what_the_table_says_and_the_drivers_pod_has_all_of_it():
    job = jobs.job(driver={"memory": "2Gi"}, executors={"memory": "4Gi"})
    found = jobs.properties(job)
    assert (found["spark.executor.memory"], found["spark.executor.memoryOverhead"]) == ("2925m", "1171m")
    assert found["spark.driver.memory"] == "1462m"
    container = jobs.objects(job)["Pod"]["spec"]["containers"][0]
    assert container["resources"]["limits"]["memory"] == container["resources"]["requests"]["memory"] == "2048Mi"
