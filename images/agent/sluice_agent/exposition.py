"""Numbers as Prometheus reads them: text format 0.0.4. Used by :mod:`sluice_agent.metrics`."""

import itertools
from collections.abc import Iterable, Iterator, Mapping

from sluice_agent import tally

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = Mapping[str, str]
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", '"': '\\"'})


def family(name: str, kind: str, about: str, samples: Iterable[tuple[Labels, float]]) -> Iterator[str]:
    """The lines of a counter or gauge; nothing where there is no sample."""
    shown = [f"{name}{_labels(labels)} {value:.15g}" for labels, value in samples]
    if shown:
        yield from _head(name, kind, about)
        yield from shown


def histograms(name: str, about: str, found: Iterable[tuple[Labels, tally.Histogram]]) -> Iterator[str]:
    """The lines of a histogram."""
    shown = [line for labels, one in found for line in _histogram(name, labels, one)]
    if shown:
        yield from _head(name, "histogram", about)
        yield from shown


def _histogram(name: str, labels: Labels, one: tally.Histogram) -> Iterator[str]:
    edges = [*(f"{edge:g}" for edge in one.edges), "+Inf"]
    for edge, count in zip(edges, itertools.accumulate(one.counts), strict=True):
        yield f"{name}_bucket{_labels({**labels, 'le': edge})} {count}"
    yield f"{name}_sum{_labels(labels)} {one.sum:.15g}"
    yield f"{name}_count{_labels(labels)} {sum(one.counts)}"


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.translate(_ESCAPES)
