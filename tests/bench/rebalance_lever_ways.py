"""What the comparisons with Lever's paper share: nodes, ways, and the eight workloads. Used by `rebalance_lever_*`."""

from bench import rebalance_stage, rebalance_tasks
from bench.rebalance_stage import Way

SHARES = (40, 40, 18)  # percent of a core, as the paper's clocks: 2.6 and 1.2 GHz
CAPACITY = sum(SHARES) / 100
PARTITIONS = len(SHARES)
LEVER = {"mode": "Act", "latency": {"enabled": False}, "lever": {"enabled": True}}
CONF = {**rebalance_stage.COPIES, **rebalance_tasks.RETAINED}
STOCK, OURS, COPIES, BOTH = "stock", "lever", "speculation", "lever and speculation"
_PAPERS = ("1", "0.5")  # section 5.1: past the median, from half of the tasks on
COUNT, WINDOW = "wordcount", "window"
FEWER = 4  # times fewer rows in windows
KINDS = ("identity", "sample", "projection", "grep", COUNT, "topk", WINDOW, "yahoo")  # of rebalance_workloads
WARM_UP = Way("warm-up", PARTITIONS, kind=COUNT)  # of JVMs, and of what the agent knows


def ways_of(kind: str, *hows: str, rows: int = 0) -> list[Way]:
    """A workload, cut and watched in these ways; each a query named `<kind> <how>`."""
    lever = {how: LEVER if how in (OURS, BOTH) else rebalance_stage.OBSERVED for how in hows}
    copies = {how: _PAPERS if how in (COPIES, BOTH) else Way.speculation for how in hows}
    size = f" {rows}" if rows else ""
    return [Way(f"{kind}{size} {how}", PARTITIONS, copies[how], lever[how], kind, rows) for how in hows]


def nodes() -> list[str]:
    """As in `SHARES`."""
    return [rebalance_stage.node(number) for number in range(len(SHARES))]


def less(seconds: float, base: float) -> float:
    """By which part something is shorter."""
    return 1 - seconds / base
