"""Who may do what: exactly this, and not a verb more."""

import pytest

from chart import render

READ = {
    ("sluice.dev", "streamjobs"): "get list watch",
    ("", "pods"): "get list watch",
    ("", "configmaps"): "get",
    ("", "serviceaccounts"): "get",
    ("", "services"): "get",
    ("policy", "poddisruptionbudgets"): "get",
    ("rbac.authorization.k8s.io", "rolebindings"): "get",
    ("coordination.k8s.io", "leases"): "get list watch",
    ("", "events"): "get",
}
WRITE = {
    ("sluice.dev", "streamjobs/status"): "patch",
    ("", "configmaps"): "create delete patch",
    ("", "pods"): "create delete patch",
    ("", "serviceaccounts"): "create delete patch",
    ("", "services"): "create delete patch",
    ("policy", "poddisruptionbudgets"): "create delete patch",
    ("rbac.authorization.k8s.io", "rolebindings"): "create delete patch",
    ("rbac.authorization.k8s.io", "clusterroles", "sluice-driver"): "bind",
    ("coordination.k8s.io", "leases"): "create delete patch",
    ("", "events"): "create patch",
}
NODES = {("", "nodes"): "get list watch", ("", "pods"): "get list watch"}
LEADER = {
    ("coordination.k8s.io", "leases"): "create",
    ("coordination.k8s.io", "leases", "sluice"): "get update",
}
DRIVER = {
    ("", "pods"): "create delete deletecollection get list patch watch",
    ("", "configmaps"): "create deletecollection",
    ("", "persistentvolumeclaims"): "create deletecollection list",
    ("", "services"): "deletecollection",
    ("coordination.k8s.io", "leases"): "get patch",
    ("sluice.dev", "streamjobs"): "get watch",
}


def table(role):
    found = {}
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for name in rule.get("resourceNames", [None]):
                    found[(group, resource, name) if name else (group, resource)] = " ".join(sorted(rule["verbs"]))
    return found


def roles(**values):
    found = render.of_kind(render.objects(**values), "Role", "ClusterRole")
    return {(role["kind"], role["metadata"].get("namespace"), role["metadata"]["name"]): table(role) for role in found}


def bindings(**values):
    found = render.of_kind(render.objects(**values), "RoleBinding", "ClusterRoleBinding")
    subject = [{"kind": "ServiceAccount", "name": "sluice", "namespace": render.NAMESPACE}]
    assert all(binding["subjects"] == subject for binding in found)
    return {
        (body["kind"], body["metadata"].get("namespace"), body["roleRef"]["kind"], body["roleRef"]["name"])
        for body in found
    }


def test_in_the_whole_cluster():
    assert roles() == {
        ("ClusterRole", None, "sluice-read"): READ,
        ("ClusterRole", None, "sluice-write"): WRITE,
        ("ClusterRole", None, "sluice-nodes"): NODES,
        ("ClusterRole", None, "sluice-driver"): DRIVER,
        ("Role", render.NAMESPACE, "sluice-leader"): LEADER,
    }
    assert bindings() == {
        ("ClusterRoleBinding", None, "ClusterRole", "sluice-read"),
        ("ClusterRoleBinding", None, "ClusterRole", "sluice-write"),
        ("ClusterRoleBinding", None, "ClusterRole", "sluice-nodes"),
        ("RoleBinding", render.NAMESPACE, "Role", "sluice-leader"),
    }


def test_with_namespaces_a_role_in_each_and_nothing_cluster_wide():
    assert roles(namespaces=["ads", "clicks"]) == {
        ("Role", "ads", "sluice-read"): READ,
        ("Role", "ads", "sluice-write"): WRITE,
        ("Role", "clicks", "sluice-read"): READ,
        ("Role", "clicks", "sluice-write"): WRITE,
        ("ClusterRole", None, "sluice-driver"): DRIVER,  # a definition: bound in namespaces alone
        ("Role", render.NAMESPACE, "sluice-leader"): LEADER,
    }
    assert bindings(namespaces=["ads", "clicks"]) == {
        ("RoleBinding", "ads", "Role", "sluice-read"),
        ("RoleBinding", "ads", "Role", "sluice-write"),
        ("RoleBinding", "clicks", "Role", "sluice-read"),
        ("RoleBinding", "clicks", "Role", "sluice-write"),
        ("RoleBinding", render.NAMESPACE, "Role", "sluice-leader"),
    }


def test_with_namespaces_placement_may_be_granted_by_reading_nodes_and_pods_alone():
    given = bindings(namespaces=["ads"], placement="cluster")
    assert [name for kind, *_, name in given if kind == "ClusterRoleBinding"] == ["sluice-nodes"]
    assert roles(namespaces=["ads"], placement="cluster")["ClusterRole", None, "sluice-nodes"] == NODES


def test_whoever_turns_placement_off_grants_no_sight_of_nodes():
    assert ("ClusterRole", None, "sluice-nodes") not in roles(placement="off")


@pytest.mark.parametrize("values", [{}, {"namespaces": ["ads"], "placement": "cluster"}], ids=["cluster", "namespaced"])
def test_no_secret_no_wildcard_and_reading_apart_from_writing(values):
    for (_, _, name), rights in roles(**values).items():
        for what, verbs in rights.items():
            assert "*" not in (*what, *verbs.split())
            assert what[1] not in ("secrets", "pods/exec", "pods/ephemeralcontainers", "serviceaccounts/token")
            assert set(verbs.split()).isdisjoint(("escalate", "impersonate"))
            if name in ("sluice-read", "sluice-nodes"):
                assert set(verbs.split()) <= {"get", "list", "watch"}
            if name == "sluice-write":
                assert set(verbs.split()) <= {"create", "delete", "patch", "bind"}


def test_the_role_of_drivers_may_be_another_or_there_already():
    named = {"driverRole": {"name": "two-driver"}}
    assert roles(**named)["ClusterRole", None, "two-driver"] == DRIVER
    assert roles(**named)["ClusterRole", None, "sluice-write"][
        "rbac.authorization.k8s.io", "clusterroles", "two-driver"
    ] == "bind"  # fmt: skip
    assert ("ClusterRole", None, "sluice-driver") not in roles(driverRole={"create": False})
