"""Who may talk to whom, as a table. The testbed enforces no NetworkPolicies, so none was tried."""

import dataclasses

import pytest

from chart import render

ENABLED = {
    "networkPolicy": {
        "enabled": True,
        "jobNamespaces": ["clicks"],
        "monitoringNamespaces": {"matchLabels": {"team": "watch"}},
        "uiNamespaces": {"matchLabels": {"team": "data"}},
    }
}
NAMESPACES = {
    render.NAMESPACE: {"kubernetes.io/metadata.name": render.NAMESPACE},
    "clicks": {}, "monitoring": {"team": "watch"}, "lab": {"team": "data"}, "other": {},
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Peer:
    """Somebody with labels in a namespace, or the world outside."""

    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()


OPERATOR = Peer(render.NAMESPACE, (("app.kubernetes.io/name", "sluice"), ("app.kubernetes.io/instance", "sluice")))
HELM_TEST = Peer(render.NAMESPACE, (("app.kubernetes.io/name", "sluice-test"),))
NEIGHBOUR = Peer(render.NAMESPACE)
DRIVER = Peer("clicks", (("sluice.dev/role", "driver"), ("sluice.dev/job", "clicks")))
EXECUTOR = Peer("clicks", (("sluice.dev/role", "executor"), ("sluice.dev/job", "clicks")))
TENANT = Peer("clicks")
PROMETHEUS = Peer("monitoring")
ANALYST = Peer("lab")
STRANGER = Peer("other")
ROLE_LIAR = Peer("other", (("sluice.dev/role", "executor"),))
WORLD = Peer()

FLOWS = [
    (PROMETHEUS, OPERATOR, "TCP", 8080, True),
    (HELM_TEST, OPERATOR, "TCP", 8080, True),
    (STRANGER, OPERATOR, "TCP", 8080, False),
    (NEIGHBOUR, OPERATOR, "TCP", 8080, False),
    (DRIVER, OPERATOR, "TCP", 8080, False),
    (PROMETHEUS, OPERATOR, "TCP", 22, False),
    (OPERATOR, WORLD, "TCP", 443, True),
    (OPERATOR, WORLD, "TCP", 6443, True),
    (OPERATOR, WORLD, "UDP", 53, True),
    (OPERATOR, WORLD, "TCP", 53, True),
    (OPERATOR, WORLD, "TCP", 80, False),
    (OPERATOR, DRIVER, "TCP", 4040, False),
    (OPERATOR, DRIVER, "TCP", 7080, True),
    (OPERATOR, EXECUTOR, "TCP", 7080, False),
    (OPERATOR, PROMETHEUS, "TCP", 9090, False),
    (NEIGHBOUR, DRIVER, "TCP", 7080, False),
    (EXECUTOR, DRIVER, "TCP", 7078, True),
    (DRIVER, EXECUTOR, "TCP", 35001, True),
    (EXECUTOR, EXECUTOR, "TCP", 35001, True),
    (TENANT, DRIVER, "TCP", 7078, False),
    (TENANT, EXECUTOR, "TCP", 35001, False),
    (STRANGER, DRIVER, "TCP", 7078, False),
    (ROLE_LIAR, DRIVER, "TCP", 7078, False),
    (ANALYST, DRIVER, "TCP", 4040, True),
    (ANALYST, DRIVER, "TCP", 7078, False),
    (ANALYST, EXECUTOR, "TCP", 4040, False),
    (STRANGER, DRIVER, "TCP", 4040, False),
    (PROMETHEUS, DRIVER, "TCP", 7080, True),
    (PROMETHEUS, DRIVER, "TCP", 4040, False),
    (PROMETHEUS, EXECUTOR, "TCP", 7080, False),
    (ANALYST, DRIVER, "TCP", 7080, False),
    (STRANGER, DRIVER, "TCP", 7080, False),
    (DRIVER, WORLD, "TCP", 9092, True),
    (EXECUTOR, WORLD, "TCP", 443, True),
]


def selects(selector, labels):
    wanted = selector.get("matchLabels", {}).items() <= labels.items()
    for expression in selector.get("matchExpressions", ()):
        assert expression["operator"] == "In"
        wanted = wanted and labels.get(expression["key"]) in expression["values"]
    return wanted


def is_peer(word, policy, peer):
    if not peer.namespace:
        return False
    if "namespaceSelector" in word:
        there = selects(word["namespaceSelector"], NAMESPACES[peer.namespace])
        return there and selects(word.get("podSelector", {}), dict(peer.labels))
    return peer.namespace == policy["metadata"]["namespace"] and selects(word["podSelector"], dict(peer.labels))


def lets_through(policies, direction, inside, outside, protocol, port):
    """As Kubernetes adds policies up: none that selects the pod lets all, else one rule must allow it."""
    applying = [
        policy
        for policy in policies
        if inside.namespace == policy["metadata"]["namespace"]
        and selects(policy["spec"]["podSelector"], dict(inside.labels))
        and direction.title() in policy["spec"]["policyTypes"]
    ]
    whom = {"ingress": "from", "egress": "to"}[direction]
    return not applying or any(
        (whom not in rule or any(is_peer(word, policy, outside) for word in rule[whom]))
        and ("ports" not in rule or {"protocol": protocol, "port": port} in rule["ports"])
        for policy in applying
        for rule in policy["spec"][direction]
    )


def flows(policies, source, target, protocol, port):
    return lets_through(policies, "egress", source, target, protocol, port) and lets_through(
        policies, "ingress", target, source, protocol, port
    )


@pytest.mark.parametrize(("source", "target", "protocol", "port", "allowed"), FLOWS)
def test_this_flow(source, target, protocol, port, allowed):
    policies = render.of_kind(render.objects(**ENABLED), "NetworkPolicy")
    assert flows(policies, source, target, protocol, port) is allowed


URLS = [("http://p.monitoring:9090/x", 9090), ("https://p.monitoring", 443), ("http://p.monitoring/x", 80)]


@pytest.mark.parametrize(("url", "port"), URLS)
def test_a_prometheus_is_asked_beside_the_drivers(url, port):
    policies = render.of_kind(render.objects(**ENABLED, prometheus={"url": url}), "NetworkPolicy")
    assert flows(policies, OPERATOR, PROMETHEUS, "TCP", port)
    assert flows(policies, OPERATOR, DRIVER, "TCP", 7080)  # what executors shuffle is known to them alone
    assert flows(policies, PROMETHEUS, DRIVER, "TCP", 7080)


def test_nothing_is_limited_unless_asked_for():
    assert render.of_kind(render.objects(), "NetworkPolicy") == []


def test_selectors_left_empty_let_every_namespace_scrape_and_look():
    policies = render.of_kind(
        render.objects(networkPolicy={"enabled": True, "jobNamespaces": ["clicks"]}), "NetworkPolicy"
    )
    assert flows(policies, STRANGER, OPERATOR, "TCP", 8080)
    assert flows(policies, STRANGER, DRIVER, "TCP", 4040)
    assert flows(policies, STRANGER, DRIVER, "TCP", 7080)
    assert not flows(policies, STRANGER, DRIVER, "TCP", 7078)
