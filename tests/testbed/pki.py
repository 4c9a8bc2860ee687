"""The cluster's certificates and the kubeconfigs made of them. Written whole or not at all."""

import base64
import json
import pathlib
import shutil

from house import shell
from testbed import network

FORWARDED_API = "https://127.0.0.1:{port}"
_DAYS = "3650"
_API_NAMES = (
    "localhost kubernetes kubernetes.default kubernetes.default.svc kubernetes.default.svc.cluster.local".split()
)


def make(directory: pathlib.Path, api_port: int) -> None:
    """Makes every key, certificate and kubeconfig of a cluster, for as many nodes as there can be."""
    part = directory.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    _authority(part)
    _service_account_keys(part)
    inside = f"https://{network.CONTROL_ADDRESS}:6443"
    api_addresses = ["127.0.0.1", network.CONTROL_ADDRESS, "10.96.0.1"]
    _certificate(part, "apiserver", "/CN=kube-apiserver", _alternatives(_API_NAMES, api_addresses))
    _certificate(part, "kubelet-client", "/O=system:masters/CN=apiserver-kubelet-client")
    _certificate(part, "admin", "/O=system:masters/CN=admin")
    _kubeconfig(part, "admin", FORWARDED_API.format(port=api_port))
    _kubeconfig(part, "admin", inside, name="inside")
    for component in ("controller-manager", "scheduler", "proxy"):
        _certificate(part, component, f"/CN=system:kube-{component}")
        _kubeconfig(part, component, inside)
    for node in network.NODE_NAMES:
        _certificate(part, node, f"/O=system:nodes/CN=system:node:{node}")
        _kubeconfig(part, node, inside)
        _certificate(part, f"{node}-serving", f"/CN={node}", _alternatives([node], [network.address(node)]))
    part.rename(directory)


def _authority(at: pathlib.Path) -> None:
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=sluice-testbed".split()
    shell.read("openssl", *words, "-days", _DAYS, "-keyout", at / "ca.key", "-out", at / "ca.crt")


def _service_account_keys(at: pathlib.Path) -> None:
    shell.read("openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", at / "sa.key")
    shell.read("openssl", "ec", "-in", at / "sa.key", "-pubout", "-out", at / "sa.pub")


def _alternatives(names: list[str], addresses: list[str]) -> str:
    return "subjectAltName=" + ",".join([f"DNS:{n}" for n in names] + [f"IP:{a}" for a in addresses])


def _certificate(at: pathlib.Path, name: str, subject: str, extension: str = "basicConstraints=CA:FALSE") -> None:
    new = "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes".split()
    request = shell.read("openssl", *new, "-subj", subject, "-keyout", at / f"{name}.key")
    (at / f"{name}.ext").write_text(extension)
    authority = ("-CA", at / "ca.crt", "-CAkey", at / "ca.key", "-CAcreateserial")
    shell.read(
        "openssl",
        "x509",
        "-req",
        *authority,
        "-days",
        _DAYS,
        "-extfile",
        at / f"{name}.ext",
        "-out",
        at / f"{name}.crt",
        text=request,
    )


def _kubeconfig(at: pathlib.Path, user: str, server: str, name: str = "") -> None:
    def inline(file: str) -> str:
        return base64.b64encode((at / file).read_bytes()).decode()

    cluster = {"server": server, "certificate-authority-data": inline("ca.crt")}
    keys = {"client-certificate-data": inline(f"{user}.crt"), "client-key-data": inline(f"{user}.key")}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sluice-testbed", "cluster": cluster}],
        "users": [{"name": user, "user": keys}],
        "contexts": [{"name": "sluice-testbed", "context": {"cluster": "sluice-testbed", "user": user}}],
        "current-context": "sluice-testbed",
    }
    (at / f"{name or user}.kubeconfig").write_text(json.dumps(config, indent=1))
