"""Draws a figure into ``tests/bench/figures``: lines or bars, the paper's name in the title. Called by the benches."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence

import matplotlib as mpl

mpl.use("Agg")  # no screen here

from matplotlib import axes as mpl_axes
from matplotlib import pyplot as plt

FOLDER = pathlib.Path(__file__).with_name("figures")


@dataclasses.dataclass(frozen=True)
class Figure:
    """What stands around the data."""

    file: str
    title: str
    x: str
    y: str
    log_y: bool = False


def lines(figure: Figure, xs: Sequence[float], series: Mapping[str, Sequence[float]]) -> None:
    """One line per series over the same xs."""
    axes = _axes(figure)
    for name, ys in series.items():
        axes.plot(xs, ys, marker="o", markersize=3, label=name)
    _save(figure, axes)


def bars(figure: Figure, groups: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """A cluster of bars per group."""
    axes = _axes(figure)
    width = 0.8 / len(series)
    for i, (name, ys) in enumerate(series.items()):
        axes.bar([at + i * width for at in range(len(groups))], ys, width, label=name)
    axes.set_xticks([at + 0.4 - width / 2 for at in range(len(groups))], groups)
    _save(figure, axes)


def _axes(figure: Figure) -> mpl_axes.Axes:
    axes = plt.subplots(figsize=(6, 3.6), dpi=110)[1]
    axes.set_title(figure.title, fontsize=9)
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    if figure.log_y:
        axes.set_yscale("log")
    return axes


def _save(figure: Figure, axes: mpl_axes.Axes) -> None:
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    FOLDER.mkdir(exist_ok=True)
    # Without the maker's version in the file the same data gives the same bytes.
    plt.savefig(FOLDER / f"{figure.file}.png", bbox_inches="tight", metadata={"Software": None})
    plt.close("all")
