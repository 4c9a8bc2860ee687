"""The optional policy: made when asked for, and only where jobs live. That it denies is tried on the cluster."""

from chart import render


def binding(**values):
    asked = {"admissionPolicy": {"enabled": True}, **values}
    return render.one(render.objects(**asked), "ValidatingAdmissionPolicyBinding", "sluice-executors")["spec"]


def test_it_is_off_unless_asked_for():
    assert [body for body in render.objects() if body["kind"].startswith("Validating")] == []


def test_it_holds_in_namespaces_labelled_for_jobs():
    assert binding()["matchResources"]["namespaceSelector"] == {"matchLabels": {"sluice.dev/jobs": "true"}}


def test_in_namespaced_mode_it_holds_in_those():
    selector = binding(namespaces=["ads"])["matchResources"]["namespaceSelector"]
    assert selector == {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["ads"]}]
    }
