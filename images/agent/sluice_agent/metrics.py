"""`/metrics` on the pod's address, for Prometheus: what :mod:`sluice_agent.tally` has summed, and how we are.

Names, kinds and meanings stand in `images/agent/README.md`, too; a test compares them.
"""

import datetime
import pathlib
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from sluice_agent import board, exposition, heard, listen, tally
from sluice_agent.exposition import Labels

PORT = 7080
_PATHS = ("/metrics", "/healthz", "/v1/traffic")
_MOST_CONNECTIONS = 8
_PAGE = resource.getpagesize()

QUERY_GAUGES = {
    "input": ("sluice_query_input_rows_per_second", "Rows that arrived a second, as Spark has it."),
    "processed": ("sluice_query_processed_rows_per_second", "Rows a second the last batch worked off."),
    "lag": ("sluice_query_lag_records", "Records that wait in all sources that tell."),
    "delay": ("sluice_query_watermark_delay_seconds", "How far the watermark is behind the batch's time."),
    "state_rows": ("sluice_query_state_rows", "Rows of state."),
    "state_bytes": ("sluice_query_state_bytes", "Memory of state."),
}
EXECUTOR_COUNTERS = {
    "tasks": ("sluice_executor_tasks_total", "Tasks that ended well."),
    "failed": ("sluice_executor_failed_tasks_total", "Tasks that failed."),
    "rows": ("sluice_executor_input_rows_total", "Rows read from sources."),
    "inputBytes": ("sluice_executor_input_bytes_total", "Bytes read from sources."),
    "runMs": ("sluice_executor_run_seconds_total", "Time tasks ran."),
    "cpuMs": ("sluice_executor_cpu_seconds_total", "CPU time of the JVM's tasks, without Python workers."),
    "pythonMs": ("sluice_executor_python_seconds_total", "Time in Python workers."),
    "gcMs": ("sluice_executor_gc_seconds_total", "Garbage collection while tasks ran."),
    "lostMs": ("sluice_executor_lost_seconds_total", "Time of tasks that failed or were beaten by another attempt."),
    "localBytes": ("sluice_executor_shuffle_local_bytes_total", "Shuffle bytes read from the same executor or host."),
    "remoteBytes": ("sluice_executor_shuffle_remote_bytes_total", "Shuffle bytes read over the network."),
    "fetchWaitMs": ("sluice_executor_shuffle_wait_seconds_total", "Time tasks waited for shuffle bytes."),
    "writtenBytes": ("sluice_executor_shuffle_written_bytes_total", "Shuffle bytes written."),
}
OTHERS = {
    "sluice_query_batches_total": ("counter", "Batches that ended."),
    "sluice_query_rows_total": ("counter", "Rows of all batches."),
    "sluice_query_dropped_rows_total": ("counter", "Rows dropped as later than the watermark."),
    "sluice_query_measuring_seconds_total": ("counter", "What measuring cost the driver."),
    "sluice_query_part_seconds_total": ("counter", "Time in each of Spark's parts of a batch."),
    "sluice_query_batch_id": ("gauge", "The last batch measured."),
    "sluice_query_batch_seconds": ("histogram", "How long batches took."),
    "sluice_query_phase": ("gauge", "1 for the phase the query is in: gate, running, parked or ended."),
    "sluice_executor_task_seconds": ("histogram", "How long tasks took, or until a copy overtook them; within 6 %."),
    "sluice_driver_phase": ("gauge", "1 for the phase the driver is in, as in its Lease annotation."),
    "sluice_agent_plugin_silent_seconds": ("gauge", "Since the plugin last spoke; its poll comes every 20 s."),
    "sluice_agent_order": ("gauge", "The number of the orders in force, 0 for none."),
    "sluice_agent_orders_refused": ("gauge", "1 while the operator's newest orders are refused, else 0."),
    "sluice_agent_documents_refused_total": ("counter", "Documents of the plugin that made no sense."),
    "process_cpu_seconds_total": ("counter", "CPU time of the agent."),
    "process_resident_memory_bytes": ("gauge", "Memory of the agent."),
}


class Metrics:
    """Written anew each time somebody asks, so that who is gone leaves nothing behind."""

    def __init__(self, job: Labels, sums: tally.Tally, states: heard.Heard, orders: board.Board) -> None:
        self._job, self._sums, self._states, self._orders = job, sums, states, orders

    @property
    def service(self) -> listen.Service:
        """What is served on the pod's address: anyone may ask, nobody may send."""
        return listen.Service(_admit, self._answer, 0, _MOST_CONNECTIONS)

    async def _answer(self, head: listen.Head, _: bytes) -> listen.Reply:
        if head.path == "/healthz":
            return listen.Reply(200, b"ok\n", exposition.CONTENT_TYPE)
        if head.path == "/v1/traffic":
            return listen.said(200, self._sums.traffic.document(datetime.datetime.now(datetime.UTC).isoformat()))
        return listen.Reply(200, self.text().encode(), exposition.CONTENT_TYPE)

    def text(self) -> str:
        """All of it."""
        return "\n".join([*self._queries(), *self._executors(), *self._agent(), ""])

    def _queries(self) -> Iterator[str]:
        found = [({**self._job, "query": name}, query) for name, query in sorted(self._sums.queries.items())]
        for name, value in _QUERY_SUMS.items():
            yield from _known(name, ((labels, value(query)) for labels, query in found))
        for field, (name, about) in QUERY_GAUGES.items():
            told = ((labels, query.last.gauges[field]) for labels, query in found if field in query.last.gauges)
            yield from exposition.family(name, "gauge", about, told)
        parts = (({**labels, "part": part}, took_s) for labels, query in found for part, took_s in query.part_s.items())
        yield from _known("sluice_query_part_seconds_total", parts)
        yield from _histograms("sluice_query_batch_seconds", ((labels, query.took) for labels, query in found))

    def _executors(self) -> Iterator[str]:
        found = [
            ({**self._job, "query": query, "executor": executor}, part)
            for (query, executor), part in sorted(self._sums.parts.items())
        ]
        for field, (name, about) in EXECUTOR_COUNTERS.items():
            yield from exposition.family(name, "counter", about, ((labels, part.sums[field]) for labels, part in found))
        yield from _histograms("sluice_executor_task_seconds", ((labels, part.tasks) for labels, part in found))

    def _agent(self) -> Iterator[str]:
        state, orders = self._states.state, self._orders.orders
        phases = {query.name: query.phase for query in reversed(state.queries if state else ())}  # one that lives wins
        labels = ({**self._job, "query": name, "phase": phase} for name, phase in sorted(phases.items()))
        yield from _known("sluice_query_phase", ((label, 1.0) for label in labels))
        yield from _known("sluice_driver_phase", [({**self._job, "phase": self._states.phase}, 1.0)])
        for name, value in {
            "sluice_agent_plugin_silent_seconds": self._states.silent_s,
            "sluice_agent_order": orders.order if orders else 0,
            "sluice_agent_orders_refused": bool(self._orders.refused),
            "sluice_agent_documents_refused_total": self._sums.refused,
            "process_cpu_seconds_total": time.process_time(),
            "process_resident_memory_bytes": int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * _PAGE,
        }.items():
            yield from _known(name, [(self._job, float(value))])


_QUERY_SUMS: Mapping[str, Callable[[tally.Query], float]] = {
    "sluice_query_batches_total": lambda query: query.batches,
    "sluice_query_rows_total": lambda query: query.rows,
    "sluice_query_dropped_rows_total": lambda query: query.dropped,
    "sluice_query_measuring_seconds_total": lambda query: query.own_s,
    "sluice_query_batch_id": lambda query: query.last.batch,
}


def _admit(head: listen.Head) -> None:
    if head.path not in _PATHS:
        raise listen.Refused(404, f"there is {', '.join(_PATHS)}")
    if head.method != "GET":
        raise listen.Refused(405, "only GET is spoken here")


def _known(name: str, samples: Iterable[tuple[Labels, float]]) -> Iterator[str]:
    return exposition.family(name, *OTHERS[name], samples)


def _histograms(name: str, found: Iterable[tuple[Labels, tally.Histogram]]) -> Iterator[str]:
    return exposition.histograms(name, OTHERS[name][1], found)
