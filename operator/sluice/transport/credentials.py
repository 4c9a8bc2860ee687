"""Who we are to the API server: the pod's own account, or a developer's KUBECONFIG. Read by the wire."""

import ssl

from kubernetes import client, config


class Credentials:
    """Where the API server is, how it is trusted, and the proof of who we are that is valid right now."""

    def __init__(self, found: client.Configuration) -> None:
        self._found = found
        self.server: str = found.host
        self.trust: ssl.SSLContext | None = _trust(found) if found.host.startswith("https") else None

    def headers(self) -> dict[str, str]:
        """The token, if we have one; the library reads a pod's anew each minute, as the kubelet rotates it."""
        token = self._found.get_api_key_with_prefix("BearerToken")
        return {"Authorization": token} if token else {}


def load() -> Credentials:
    """The pod's own where there are any, else those of KUBECONFIG."""
    found = client.Configuration()
    try:
        config.load_incluster_config(client_configuration=found)
    except config.ConfigException:
        config.load_kube_config(client_configuration=found)
    return Credentials(found)


def at(server: str) -> Credentials:
    """Nobody in particular, at a server that asks nobody."""
    return Credentials(client.Configuration(host=server))


def _trust(found: client.Configuration) -> ssl.SSLContext:
    trust = ssl.create_default_context(cafile=found.ssl_ca_cert)
    if not found.verify_ssl:
        trust.check_hostname = False
        trust.verify_mode = ssl.CERT_NONE
    if found.cert_file:
        trust.load_cert_chain(found.cert_file, found.key_file)
    return trust
