"""Driver and executors: what the user's template may say, what Sluice must have, what a cluster's guards ask for."""

import dataclasses

import hypothesis
import pytest
from hypothesis import strategies as st

from build import jobs, restricted
from sluice import build
from sluice.build import samples
from sluice.values import names

UNGUARDED = dataclasses.replace(jobs.AROUND, agent_image="")


def driver(template, **more):
    return jobs.objects(jobs.job(driver={"template": template, **more}))["Pod"]


def executor(template):
    return jobs.template(jobs.job(executors={"template": template}))


def one(items, name):
    return next(item for item in items if item["name"] == name)


def spec(**fields):
    return {"spec": fields}


KEPT = [
    ("nodeSelector", {"disk": "ssd"}),
    ("affinity", {"nodeAffinity": {}}),
    ("priorityClassName", "high"),
    ("dnsPolicy", "ClusterFirstWithHostNet"),
    ("hostAliases", [{"ip": "10.0.0.1", "hostnames": ["kafka"]}]),
    ("topologySpreadConstraints", [{"maxSkew": 1}]),
    ("runtimeClassName", "gvisor"),
]


@pytest.mark.parametrize(("field", "value"), KEPT)
def test_what_the_template_says_stays(field, value):
    for make in (driver, executor):
        assert make(spec(**{field: value}))["spec"][field] == value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("restartPolicy", "Always"),
        ("serviceAccountName", "admin"),
        ("automountServiceAccountToken", False),
        ("terminationGracePeriodSeconds", 1),
    ],
)
def test_what_a_driver_must_have_is_had(field, value):
    assert driver(spec(**{field: value}))["spec"][field] == driver({})["spec"][field]


def test_containers_of_the_user_stay_beside_the_driver_and_its_own_is_found_by_name():
    theirs = [
        {"name": "tail", "image": "tail:1"},
        {"name": "driver", "image": "other:1", "env": [{"name": "TZ", "value": "UTC"}], "args": ["sleep"]},
    ]
    found = driver(spec(containers=theirs))["spec"]["containers"]
    assert [container["name"] for container in found] == ["driver", "tail"]
    assert one(found[0]["env"], "TZ")["value"] == "UTC"
    assert one(found[0]["env"], "POD_IP")["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP"
    assert found[0]["image"] == jobs.SMALLEST["image"]
    assert found[0]["args"][0] == "driver"


def test_the_variables_of_sluice_come_first_so_that_the_users_may_refer_to_them():
    theirs = [
        {"name": "driver", "env": [{"name": "SELF", "value": "http://$(POD_IP)"}, {"name": "POD_IP", "value": "x"}]}
    ]
    names = [item["name"] for item in driver(spec(containers=theirs))["spec"]["containers"][0]["env"]]
    assert names == ["POD_IP", "SPARK_DRIVER_BIND_ADDRESS", "SELF"]


def test_cpu_may_be_asked_for_otherwise_but_memory_is_the_specs():
    theirs = [{"name": "driver", "resources": {"requests": {"cpu": "200m", "memory": "9Gi"}, "limits": {"cpu": "2"}}}]
    found = driver(spec(containers=theirs), cores=1)["spec"]["containers"][0]["resources"]
    assert found == {"requests": {"cpu": "200m", "memory": "1024Mi"}, "limits": {"cpu": "2", "memory": "1024Mi"}}


def test_labels_and_annotations_of_the_user_stay_and_ours_count():
    labels = {"team": "web", "sluice.dev/job": "other"}
    found = driver({"metadata": {"labels": labels, "annotations": {"note": "kept"}, "name": "mine"}})["metadata"]
    assert (found["labels"]["team"], found["labels"]["sluice.dev/job"]) == ("web", "clicks")
    assert found["annotations"]["note"] == "kept"
    assert found["name"] == "clicks-a1b2c3-1"


def test_a_node_that_is_lost_is_left_after_30_s_unless_the_user_says_otherwise():
    theirs = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 600}
    for make in (driver, executor):
        found = {
            item["key"]: item["tolerationSeconds"] for item in make(spec(tolerations=[theirs]))["spec"]["tolerations"]
        }
        assert found == {"node.kubernetes.io/unreachable": 600, "node.kubernetes.io/not-ready": 30}


def test_the_grace_of_a_driver_is_its_drain_and_what_comes_after():
    found = jobs.objects(jobs.job(update={"drainTimeout": "90s"}))["Pod"]
    assert found["spec"]["terminationGracePeriodSeconds"] == 110


@pytest.mark.parametrize(
    ("mode", "placing", "gates"),
    [
        ("Act", True, ["sluice.dev/place", "example.com/quota"]),
        ("Observe", True, ["sluice.dev/place", "example.com/quota"]),
        ("Off", True, ["example.com/quota"]),
        ("Act", False, ["example.com/quota"]),
    ],
)
def test_an_executor_waits_for_its_place_unless_nobody_would_give_it_one(mode, placing, gates):
    template = spec(schedulingGates=[{"name": "example.com/quota"}])
    job = jobs.job(placement={"mode": mode}, executors={"template": template})
    found = jobs.template(job, dataclasses.replace(jobs.AROUND, placing=placing))["spec"]["schedulingGates"]
    assert {gate["name"] for gate in found} == set(gates)


def test_an_executor_has_the_jobs_identity_and_no_token_for_the_api_server():
    found = executor({})["spec"]
    assert (found["serviceAccountName"], found["automountServiceAccountToken"]) == ("clicks-driver", False)
    assert executor(spec(serviceAccountName="reader"))["spec"]["serviceAccountName"] == "reader"


TEMPLATES = [
    {},
    spec(containers=[{"name": "tail", "image": "tail:1"}], initContainers=[{"name": "wait", "image": "wait:1"}]),
    spec(containers=[{"name": "driver", "securityContext": {"readOnlyRootFilesystem": True}}]),
    spec(securityContext={"runAsUser": 1000}),
    spec(securityContext={"runAsUser": None}),
]


def marked(**changed):
    return jobs.template(jobs.job(**changed))["metadata"]["labels"][names.TEMPLATE]


def test_executors_say_which_template_they_are_of_as_their_user_wrote_it():
    blue = {"metadata": {"labels": {"colour": "blue", names.TEMPLATE: "mine"}}}
    assert marked(executors={"template": blue}) != marked() == marked(image="other:1", executors={"count": 4})
    assert marked(placement={"mode": "Off"}) != marked() == marked(placement={"mode": "Observe"})
    assert marked() == "44136f"  # and in every release, or an upgrade would make them all anew


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_pod_passes_restricted_by_default(template):
    for make in (driver, executor):
        assert restricted.breaches(make(template)["spec"]) == []


def test_a_breach_of_restricted_is_found_and_is_the_users_to_make():
    theirs = [{"name": "driver", "securityContext": {"privileged": True, "runAsUser": 0}}]
    found = driver(spec(containers=theirs, hostNetwork=True, volumes=[{"name": "v", "hostPath": {"path": "/"}}]))[
        "spec"
    ]
    assert restricted.breaches(found) == [
        "hostNetwork",
        "volumes[v]",
        "containers[driver].privileged",
        "containers[driver].runAsUser",
    ]


def test_every_container_of_sluice_has_requests_and_limits_so_that_a_limit_range_adds_nothing():
    sidecar = one(driver({})["spec"]["initContainers"], "sluice-agent")
    assert sidecar["restartPolicy"] == "Always"
    assert sidecar["resources"]["requests"].keys() == sidecar["resources"]["limits"].keys() == {"cpu", "memory"}


def test_without_an_agent_image_there_is_no_sidecar():
    assert "initContainers" not in jobs.objects(jobs.job(), UNGUARDED)["Pod"]["spec"]


def test_the_agent_is_up_before_the_users_own_init_containers_can_wait():
    found = driver(spec(initContainers=[{"name": "wait", "image": "wait:1"}]))["spec"]["initContainers"]
    assert [container["name"] for container in found] == ["sluice-agent", "wait"]


def test_pods_carry_no_variables_of_a_thousand_services():
    assert driver({})["spec"]["enableServiceLinks"] is executor({})["spec"]["enableServiceLinks"] is False


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ({"spec": []}, r"spec.driver.template.spec=\[\]: allowed is an object"),
        ({"metadata": {"labels": 1}}, r"template.metadata.labels=1: allowed is an object"),
        (spec(containers={}), r"template.spec.containers={}: allowed is a list"),
        (spec(containers=[{"image": "x"}]), r"template.spec.containers\[0\]: name is missing"),
        (spec(volumes=["x"]), r"template.spec.volumes\[0\]: name is missing"),
        (spec(containers=[{"name": "driver", "env": "x"}]), r"containers\[0\].env='x': allowed is a list"),
        (spec(tolerations=3), r"template.spec.tolerations=3: allowed is a list"),
        (spec(containers=[{"name": "a", "securityContext": 1}]), r"securityContext=1: allowed is an object"),
    ],
)
def test_a_template_that_is_no_pod_is_refused_by_its_field(template, sentence):
    with pytest.raises(ValueError, match=sentence):
        driver(template)


SCALARS = st.none() | st.integers() | st.text(max_size=2)
JSON = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(["name", "x"]), SCALARS)
FIELDS = st.sampled_from(
    ["containers", "initContainers", "volumes", "tolerations", "securityContext", "imagePullSecrets"]
)
PARTS = st.sampled_from(["env", "ports", "resources", "securityContext", "volumeMounts", "args", "name"])
CONTAINERS = st.lists(st.dictionaries(PARTS, JSON | st.just("driver"), max_size=4), max_size=3)


@hypothesis.settings(deadline=None, max_examples=60)
@hypothesis.example({"containers": 3})
@hypothesis.example({"containers": [{"name": "executor", "resources": [1]}]})
@hypothesis.given(st.dictionaries(FIELDS, JSON | CONTAINERS, max_size=4))
def test_whatever_a_template_is_it_gives_pods_or_a_sentence(found):
    job = jobs.job(driver={"template": {"spec": found}}, executors={"template": {"spec": found}})
    try:
        objects = build.objects(job, jobs.REVISION, 1, jobs.AROUND)
    except ValueError as why:
        assert str(why).startswith("spec.")
        return
    assert objects[-1]["kind"] == "Pod"


def test_samples_are_whole_pods_that_meet_no_pod_of_the_job():
    job = jobs.job(executors={"template": spec(containers=[{"name": "tail", "image": "tail:1"}])})
    of_driver, of_executor = samples.pods(job, jobs.REVISION, jobs.AROUND)
    assert of_driver["metadata"]["name"] == "clicks-a1b2c3-0"
    assert of_executor["metadata"]["name"] == "clicks-a1b2c3-0-exec-1"
    images = {container["name"]: container["image"] for container in of_executor["spec"]["containers"]}
    assert images == {"executor": jobs.SMALLEST["image"], "tail": "tail:1"}
    accounts = [pod["spec"]["serviceAccountName"] for pod in (of_driver, of_executor)]
    assert accounts == ["default", "default"]
    theirs = samples.pods(jobs.job(serviceAccount={"name": "mine"}), jobs.REVISION, jobs.AROUND)
    assert [pod["spec"]["serviceAccountName"] for pod in theirs] == ["mine", "mine"]
