"""Every patch says which version of what it is for: what has changed since is met anew, or left alone."""

from act import manifests
from fakes import api, loops
from sluice import act
from sluice.values import steps

TELL = steps.Tell("team", "clicks", manifests.UID, warning=False, reason="Started", message="clicks starts")
CONFIG = ("ConfigMap", "team", "clicks-a1b2c3")


async def do(kube, *wanted):
    async with kube.wire() as line:
        return await act.carry_out(steps.Steps(tuple((step,) for step in wanted)), line)


def in_between(kube, ends, change):
    """Somebody changes something once, just before a patch of ours."""
    todo = [change]

    def hook(call):
        if call.method == "PATCH" and call.path.endswith(ends) and todo:
            todo.pop()()

    kube.before_write = hook


@loops.in_a_loop
async def test_every_patch_says_so():
    async with api.FakeApi() as kube:
        job, pod = kube.put(manifests.streamjob())["metadata"], kube.put(manifests.pod())["metadata"]
        await do(
            kube,
            steps.RecordStatus("team", job["name"], job["uid"], job["resourceVersion"], {"phase": "Starting"}),
            steps.PatchPod(
                "team", pod["name"], pod["uid"], pod["resourceVersion"], {"metadata": {"labels": {"a": "b"}}}
            ),
            *(steps.Create(manifests.config_map(a=str(number)), renew=True) for number in range(3)),
            *(TELL, TELL),
        )
        patches = [call for call in kube.calls if call.method == "PATCH"]
        assert [call.path.rsplit("/", 2)[-2] for call in patches] == [
            *("clicks", "pods"),
            *("configmaps", "configmaps", "configmaps"),  # what POST made is adopted before it is applied
            "events",
        ]
        assert [call.path for call in patches if not {"uid", "resourceVersion"} <= call.body["metadata"].keys()] == []


@loops.in_a_loop
async def test_what_changes_while_it_is_renewed_is_met_anew_at_once():
    async with api.FakeApi() as kube:
        note = {"annotations": {"team.example/owner": "ann"}}
        for number in range(2):
            await do(kube, steps.Create(manifests.config_map(a=str(number)), renew=True))
        in_between(kube, CONFIG[2], lambda: kube.change(*CONFIG, metadata=note))
        assert (await do(kube, steps.Create(manifests.config_map(a="2"), renew=True))).ok
        assert [call.status for call in kube.calls if call.method == "PATCH"][-2:] == [409, 200]
        found = kube.get(*CONFIG)
        assert (found["data"], found["metadata"]["annotations"]) == ({"a": "2"}, note["annotations"])


@loops.in_a_loop
async def test_an_event_that_another_counts_up_meanwhile_is_left_to_him():
    async with api.FakeApi() as kube:
        await do(kube, TELL)
        (event,) = kube.objects("Event")
        name = event["metadata"]["name"]
        in_between(kube, name, lambda: kube.change("Event", "team", name, count=7))
        assert (await do(kube, TELL)).ok
        assert kube.objects("Event")[0]["count"] == 7
