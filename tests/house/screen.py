"""Shows what is running: a live bar on a terminal, plain lines in a log. Told by :mod:`house.stages`."""

import sys
import threading
import time
from typing import TextIO

_BAR_CELLS = 24
_LOG_EVERY_S = 30.0


def duration(seconds: float) -> str:
    """Seconds as a person says them: 8 s, 2 min 05 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


class Screen:
    """The running stages and since when. One per run of stages; a thread of its own redraws it."""

    def __init__(self, title: str, total: int, out: TextIO | None = None) -> None:
        self._title, self._total = title, total
        self._out = out or sys.stdout
        self._live = self._out.isatty()
        self._running: dict[str, tuple[float, float | None]] = {}
        self._done = 0
        self._began_s = self._told_s = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._painter = threading.Thread(target=self._paint, daemon=True)

    def __enter__(self) -> "Screen":
        self._line(f"== {self._title}")
        self._painter.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._painter.join()
        self._wipe()

    def began(self, name: str, usual_s: float | None) -> None:
        """A stage starts."""
        with self._lock:
            self._running[name] = (time.monotonic(), usual_s)
            if not self._live:
                usually = f" (usually {duration(usual_s)})" if usual_s is not None else ""
                self._line(f"   .... {name}{usually}")

    def ended(self, name: str, took_s: float, how: str) -> None:
        """A stage is over; `how` is ok, kept or FAILED."""
        with self._lock:
            _, usual_s = self._running.pop(name, (0.0, None))
            self._done += 1
            usually = f", usually {duration(usual_s)}" if usual_s is not None else ""
            self._wipe()
            self._line(f"   {how:>4} {self._done}/{self._total} {name} ({duration(took_s)}{usually})")

    def say(self, text: str) -> None:
        """A line from within a stage."""
        with self._lock:
            self._wipe()
            self._line(f"        {text}")

    def _paint(self) -> None:
        while not self._ended.wait(0.2 if self._live else 1.0):
            with self._lock:
                if self._live:
                    self._wipe()
                    self._out.write(self._bar())
                    self._out.flush()
                elif time.monotonic() - self._told_s > _LOG_EVERY_S and self._running:
                    self._line("   .... still: " + self._now())

    def _now(self) -> str:
        now_s = time.monotonic()
        parts = []
        for name, (since_s, usual_s) in self._running.items():
            of = f" of usually {duration(usual_s)}" if usual_s is not None else ""
            parts.append(f"{name} {duration(now_s - since_s)}{of}")
        return "; ".join(parts)

    def _bar(self) -> str:
        now_s = time.monotonic()
        part = sum(min(0.95, (now_s - since) / usual) for since, usual in self._running.values() if usual)
        filled = round(_BAR_CELLS * min(1.0, (self._done + part) / max(1, self._total)))
        bar = "#" * filled + "-" * (_BAR_CELLS - filled)
        return f"[{bar}] {self._done}/{self._total} {duration(now_s - self._began_s)} {self._now()}"[:118]

    def _wipe(self) -> None:
        if self._live:
            self._out.write("\r\033[K")

    def _line(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()
        self._told_s = time.monotonic()
