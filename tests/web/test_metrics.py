"""Each thing is counted under the name that the chart's README gives, and no label grows without bound."""

import pytest

from house import paths
from sluice import metrics


def value(name, **labels):
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.parametrize(
    ("count", "name", "labels"),
    [
        (lambda: metrics.cycle_ended("job", 0.02, 0.0), "sluice_cycle_seconds_count", {"of": "job"}),
        (
            lambda: metrics.cycle_ended("fleet", 0.02, 0.0),
            "sluice_cycle_seconds_bucket",
            {"of": "fleet", "le": "0.025"},
        ),
        (lambda: metrics.cycle_ended("job", 0.0, 1.0), "sluice_queue_wait_seconds_sum", {}),
        (lambda: metrics.latencies_read(0.02), "sluice_latency_read_seconds_count", {}),
        (lambda: metrics.decided("place"), "sluice_decisions_total", {"kind": "place"}),
        (lambda: metrics.refused("CheckpointTaken"), "sluice_refusals_total", {"reason": "CheckpointTaken"}),
    ],
)
def test_what_happened_once_is_counted_once(count, name, labels):
    before = value(name, **labels)
    count()
    assert value(name, **labels) == before + 1


def test_the_queue_and_the_lead_are_read_when_somebody_asks():
    metrics.watch_queue(lambda: 7, lambda: 1.5, lambda: 0.25)
    assert value("sluice_queue_jobs") == 7
    assert value("sluice_queue_age_seconds") == 1.5
    assert value("sluice_cycle_age_seconds") == 0.25
    metrics.leads(True)
    assert value("sluice_leader") == 1
    metrics.leads(False)
    assert value("sluice_leader") == 0


def test_what_the_wire_counted_is_shown():
    metrics.watch_calls(lambda: {("PATCH", "pods", 409): 3, ("GET", "nodes", 0): 1})
    assert value("sluice_api_calls_total", method="PATCH", resource="pods", status="409") == 3
    assert value("sluice_api_calls_total", method="GET", resource="nodes", status="0") == 1
    metrics.watch_calls(dict)


def test_jobs_are_counted_by_phase_and_those_in_trouble_are_named():
    found = {("a", "fine"): ("Running", True), ("a", "bad"): ("Failed", False), ("b", "odd"): ("Sideways", False)}
    metrics.watch_jobs(lambda: found)
    assert value("sluice_jobs", phase="Running") == 1
    assert value("sluice_jobs", phase="Pending") == 0
    assert value("sluice_jobs", phase="other") == 1
    assert value("sluice_job_unsettled", streamjob_namespace="a", streamjob="bad", phase="Failed") == 1
    assert value("sluice_job_unsettled", streamjob_namespace="b", streamjob="odd", phase="other") == 1
    assert metrics.REGISTRY.get_sample_value("sluice_jobs", {"phase": "Sideways"}) is None
    metrics.watch_jobs(dict)
    assert value("sluice_job_unsettled", streamjob_namespace="a", streamjob="bad", phase="Failed") == 0


def test_jobs_of_the_latency_loop_are_counted_by_how_they_stand():
    metrics.watch_balances(lambda: {"Balanced": 3, "Refused": 1})
    assert value("sluice_balanced_jobs", reason="Balanced") == 3
    assert value("sluice_balanced_jobs", reason="Refused") == 1
    assert value("sluice_balanced_jobs", reason="Waiting") == 0
    metrics.watch_balances(dict)


SETTLED = [("Running", True, 0), ("Running", False, 1), ("Suspended", False, 0), ("Completed", False, 0)]


@pytest.mark.parametrize(("phase", "ready", "named"), SETTLED)
def test_a_job_that_runs_without_being_ready_is_not_where_it_should_stay(phase, ready, named):
    metrics.watch_jobs(lambda: {("a", "clicks"): (phase, ready)})
    assert value("sluice_job_unsettled", streamjob_namespace="a", streamjob="clicks", phase=phase) == named
    metrics.watch_jobs(dict)


def test_however_many_jobs_are_in_trouble_few_are_named():
    metrics.watch_jobs(lambda: {("a", f"job-{n:04}"): ("Pending", False) for n in range(1000)})
    named = [
        sample.labels["streamjob"]
        for family in metrics.REGISTRY.collect()
        for sample in family.samples
        if sample.name == "sluice_job_unsettled"
    ]
    metrics.watch_jobs(dict)
    assert named == [f"job-{n:04}" for n in range(200)]


def test_whatever_is_said_no_label_takes_more_than_forty_values():
    for n in range(1000):
        metrics.refused(f"Reason{n}")
    metrics.refused("not a word")
    assert value("sluice_refusals_total", reason="Reason999") == 0
    assert value("sluice_refusals_total", reason="other") > 900
    assert value("sluice_refusals_total", reason="not a word") == 0


def documented():
    rows = {}
    for line in (paths.ROOT / "charts/sluice/README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].startswith("`sluice_"):
            rows[cells[0].strip("`")] = (cells[1], cells[2].strip("`"), cells[3])
    return rows


def test_the_chart_documents_every_metric_with_its_kind_labels_and_meaning():
    kept = metrics.REGISTRY._collector_to_names
    labels = {collector._name: collector._labelnames for collector in kept if hasattr(collector, "_labelnames")}
    labels |= {
        "sluice_jobs": ("phase",),
        "sluice_balanced_jobs": ("reason",),
        "sluice_job_unsettled": ("streamjob_namespace", "streamjob", "phase"),
        "sluice_api_calls": ("method", "resource", "status"),
    }
    expected = {}
    for family in metrics.REGISTRY.collect():
        if family.name.startswith("sluice_"):
            name = family.name + ("_total" if family.type == "counter" else "")
            expected[name] = (family.type, ", ".join(labels[family.name]), family.documentation)
    assert documented() == expected
