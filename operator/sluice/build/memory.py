"""How a pod's memory is shared: Java's heap, and what Java, Python and RocksDB take beside it.

`memory` of a StreamJob is the pod's, and nothing else is asked for: heap, off-heap and overhead add up to exactly that.
"""

import dataclasses
import re
from collections.abc import Mapping

SMALLEST_HEAP_MIB = 450  # Spark refuses to start below
_USUAL_OVERHEAD_MIB = 384  # as Spark has it
_SMALLEST_OVERHEAD_MIB = 190
_SHARES = {False: (1, 11), True: (2, 7)}  # of the pod: a tenth of the heap for Java, two fifths with Python beside it
_SCALE = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d{1,15})(?:(b)|([kmgt])b?)?", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Split:
    """Mebibytes of a pod."""

    heap: int
    overhead: int
    off_heap: int = 0

    @property
    def pod(self) -> int:
        """All of it."""
        return self.heap + self.overhead + self.off_heap


def split(role: str, memory_bytes: int, python: bool, conf: Mapping[str, str]) -> Split:
    """The memory of a driver's or executor's pod; the user's own overhead and off-heap sizes count.

    `role` is spark.<role>.memoryOverhead's. ValueError says which field leaves too little.
    """
    pod = memory_bytes >> 20
    off_heap = _off_heap_mib(conf) if role == "executor" else 0
    overhead = _asked_mib(role, conf)
    if overhead is None:
        overhead = _overhead_mib(pod, off_heap, python)
    if pod - overhead - off_heap < SMALLEST_HEAP_MIB:
        field = "executors" if role == "executor" else role
        more = SMALLEST_HEAP_MIB + max(overhead, _SMALLEST_OVERHEAD_MIB) + off_heap
        raise ValueError(f"spec.{field}.memory={pod}Mi: allowed is {more}Mi and more, of which Java's heap is the rest")
    return Split(pod - overhead - off_heap, overhead, off_heap)


def _overhead_mib(pod: int, off_heap: int, python: bool) -> int:
    """The share of the kind of program; in a small pod, less than usual rather than no heap."""
    part, whole = _SHARES[python]
    wanted = max(-(-pod * part // whole), _USUAL_OVERHEAD_MIB)
    return max(min(wanted, pod - off_heap - SMALLEST_HEAP_MIB), _SMALLEST_OVERHEAD_MIB)


def _asked_mib(role: str, conf: Mapping[str, str]) -> int | None:
    key = f"spark.{role}.memoryOverhead"
    return None if key not in conf else _bytes(key, conf[key], 1 << 20) >> 20


def _off_heap_mib(conf: Mapping[str, str]) -> int:
    key = "spark.memory.offHeap.size"
    if conf.get("spark.memory.offHeap.enabled", "").strip().lower() != "true" or key not in conf:
        return 0
    return _bytes(key, conf[key], 1) >> 20


def _bytes(key: str, text: str, plain: int) -> int:
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"spec.sparkConf[{key}]={text!r}: allowed is a size such as 512m or 2g")
    unit = (found[2] or found[3] or "").lower()
    return int(found[1]) * (_SCALE[unit] if unit else plain)
