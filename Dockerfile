# The operator. Made in one stage, kept in another: what builds does not run.
#   docker build -t sluice .
ARG BASE_IMAGE=docker.io/library/python:3.11-slim-bookworm
FROM ${BASE_IMAGE} AS made
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
    && { python3 -c 'import venv, ensurepip' 2>/dev/null || apt-get install -y --no-install-recommends python3-venv; } \
    && rm -rf /var/lib/apt/lists/*
COPY requirements/operator.txt /opt/requirements.txt
# Certificates: Debian's bundle where there is one, so that a base that trusts a proxy's authority can be built on.
# No bytecode of everything, which is as large again: the two programs below leave that of what they import. No pip, no
# tests.
RUN python3 -m venv /opt/venv && bundle=/etc/ssl/certs/ca-certificates.crt \
    && if [ -f $bundle ]; then export PIP_CERT=$bundle; fi \
    && /opt/venv/bin/pip install -q --no-cache-dir --no-compile --require-hashes -r /opt/requirements.txt \
    && /opt/venv/bin/pip uninstall -q -y setuptools pip \
    && find /opt/venv -type d -name tests -prune -exec rm -rf {} +
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/opt/sluice PYTHONUNBUFFERED=1
# The placer's machine code, for any CPU of this architecture; the root may be read-only when it is used.
ENV NUMBA_CACHE_DIR=/opt/sluice/kernels NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES=
COPY policies/sluice_policies /opt/sluice/sluice_policies
RUN python3 -m sluice_policies.warm
COPY operator/sluice /opt/sluice/sluice
RUN python3 -m sluice --version

FROM ${BASE_IMAGE}
RUN command -v python3 >/dev/null \
    || (apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*)
COPY --from=made /opt/venv /opt/venv
COPY --from=made /opt/sluice /opt/sluice
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/opt/sluice PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
ENV NUMBA_CACHE_DIR=/opt/sluice/kernels NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES=
# kopf asks for its user's name, which a bare number has not.
ENV USER=sluice
USER 65532:65532
# Without a verb, in a pod, it is the operator.
ENTRYPOINT ["python3", "-m", "sluice"]
