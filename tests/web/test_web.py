"""What probes and Prometheus are told."""

import asyncio

import pytest
from aiohttp import test_utils

from sluice import web


def ask(path, age_s=1.0, role="leads"):
    async def scene():
        signs = web.Signs(age_s=lambda: age_s, role=lambda: role)
        async with test_utils.TestClient(test_utils.TestServer(web.app(signs))) as client:
            answer = await client.get(path)
            return answer.status, await answer.text(), answer.content_type

    return asyncio.run(scene())


@pytest.mark.parametrize(("age_s", "status"), [(0.0, 200), (60.0, 200), (60.1, 503), (1e9, 503)])
def test_an_operator_is_alive_while_its_last_sign_is_young(age_s, status):
    found, said, _ = ask("/healthz", age_s=age_s)
    assert found == status
    assert said == f"the last sign of life is {age_s:.1f} s old, allowed are 60 s\n"


@pytest.mark.parametrize(("role", "status"), [("starts", 503), ("waits", 200), ("leads", 200)])
def test_whoever_leads_or_could_is_ready(role, status):
    assert ask("/readyz", role=role)[:2] == (status, f"this operator {role}\n")


def test_metrics_are_shown_as_prometheus_reads_them():
    status, said, kind = ask("/metrics")
    assert status == 200
    assert kind == "text/plain"
    assert "# TYPE sluice_cycle_seconds histogram" in said
    assert "process_resident_memory_bytes" in said


def test_other_pages_are_not_there():
    assert ask("/")[0] == 404
    assert ask("/debug/pprof")[0] == 404


def test_it_answers_while_the_block_runs_and_no_longer():
    async def scene():
        port = test_utils.unused_port()
        async with web.serve(web.Signs(lambda: 0.0, lambda: "waits"), port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /readyz HTTP/1.0\r\n\r\n")
            assert (await reader.read()).endswith(b"this operator waits\n")
            writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(scene())
