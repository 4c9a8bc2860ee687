"""The objects around the pods: whose they are, what they allow."""

import pytest

from build import jobs
from sluice import build
from sluice.build import budget, config
from sluice.plan import eligible
from sluice.values import names, streamjob

BUDGETS = ["PodDisruptionBudget"] * 2
KINDS = ["ConfigMap", "ServiceAccount", "RoleBinding", "Service", *BUDGETS, "Lease", "Pod"]


def budgets(**spec):
    """By name."""
    found = build.objects(jobs.job(**spec), jobs.REVISION, 1, jobs.AROUND)
    return {one["metadata"]["name"]: one["spec"] for one in found if one["kind"] == "PodDisruptionBudget"}


def test_each_object_comes_after_what_it_names_and_the_driver_is_the_last():
    assert [o["kind"] for o in build.objects(jobs.job(), jobs.REVISION, 1, jobs.AROUND)] == KINDS


def test_every_object_says_whose_it_is_and_all_but_the_lease_go_with_the_job():
    for manifest in build.objects(jobs.job(), jobs.REVISION, 1, jobs.AROUND):
        metadata = manifest["metadata"]
        assert (metadata["namespace"], metadata["labels"][names.JOB]) == ("shop", "clicks")
        assert names.MANAGED.items() <= metadata["labels"].items()
        owners = [(o["kind"], o["uid"], o["controller"]) for o in metadata.get("ownerReferences", [])]
        assert owners == ([] if manifest["kind"] == "Lease" else [("StreamJob", "0b5e", True)])


def test_an_account_of_the_users_own_is_not_made_but_bound():
    found = jobs.objects(jobs.job(serviceAccount={"name": "mine"}))
    assert "ServiceAccount" not in found
    assert found["RoleBinding"]["subjects"] == [{"kind": "ServiceAccount", "name": "mine", "namespace": "shop"}]
    assert found["Pod"]["spec"]["serviceAccountName"] == "mine"


def test_annotations_of_the_account_are_what_clouds_look_for():
    found = jobs.objects(jobs.job(jobs.FULL))["ServiceAccount"]["metadata"]
    assert found["annotations"] == jobs.FULL["serviceAccount"]["annotations"]


@pytest.mark.parametrize(("count", "least"), [(0, 0), (1, 0), (2, 1), (10, 9)])
def test_a_drain_of_nodes_takes_one_executor_at_a_time(count, least):
    found = budgets(executors={"count": count})["clicks"]
    assert found["minAvailable"] == least
    assert found["selector"]["matchLabels"][names.ROLE] == names.EXECUTOR
    made = jobs.objects(jobs.job(executors={"count": count}))["Pod"]["metadata"]["labels"]
    assert made[names.EXECUTORS_KEPT] == str(least)


def test_a_driver_that_comes_up_beside_another_does_not_say_what_the_budgets_keep():
    pod = build.objects(jobs.job(), jobs.REVISION, 2, jobs.AROUND, beside=True)[-1]
    assert names.EXECUTORS_KEPT not in pod["metadata"]["labels"]


@pytest.mark.parametrize("role", [names.DRIVER, names.EXECUTOR])
@pytest.mark.parametrize("leaves_by", [{}, {names.LEAVES_BY: names.HANDOVER}])
def test_no_pod_is_under_two_budgets_for_its_eviction_would_be_an_error(role, leaves_by):
    labels = {names.JOB: "clicks", names.ROLE: role, **leaves_by}
    found = [name for name, spec in budgets().items() if eligible.matches(labels, spec["selector"])]
    assert len(found) <= 1
    assert found or role == names.DRIVER


@pytest.mark.parametrize("kept", [True, False])
def test_a_drain_of_nodes_takes_no_driver_that_is_labelled_and_where_none_is_the_budget_wants_none(kept):
    assert budgets()["clicks-driver"]["minAvailable"] == 0
    found = budget.of_driver(jobs.job(), kept=kept)["spec"]
    assert found["minAvailable"] == int(kept)
    labels = {names.ROLE: names.DRIVER, names.LEAVES_BY: names.HANDOVER}
    assert found["selector"]["matchLabels"] == {names.JOB: "clicks", **labels}
    assert names.LEAVES_BY not in jobs.objects(jobs.job())["Pod"]["metadata"]["labels"]


@pytest.mark.parametrize("spec", [jobs.SMALLEST, jobs.FULL])
def test_a_revision_can_be_read_back_from_its_config_map(spec):
    job = jobs.job(spec)
    found = jobs.objects(job)["ConfigMap"]
    assert config.recorded(found).spec == streamjob.read_spec({**spec, "update": {}})
    assert config.recorded(found).key == job.key
    assert found["immutable"] is True


def test_names_stay_short_enough_for_what_spark_appends():
    longest = names.driver_pod("a" * names.LONGEST_JOB, jobs.REVISION, 99999)
    assert len(f"{longest}-exec-1") <= 47 + len("-exec-1")
