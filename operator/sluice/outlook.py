"""What the last round over all jobs measured, and what the plan of them all would have of each. In memory only.

Written by :mod:`sluice.rounds`, laid into a job's view by the cycle. An operator that takes over has it again after
one round; what was begun stands in the status.
"""

import dataclasses
from collections.abc import Mapping

from sluice.values import moves, names, traffic, views

Key = tuple[str, str]  # namespace and name of a StreamJob


class Outlook:
    """By job; what is said of a driver counts only for that one."""

    def __init__(self) -> None:
        self._measured: Mapping[Key, tuple[str, traffic.Traffic]] = {}
        self._wishes: Mapping[Key, moves.Wish] = {}

    def renew(self, measured: Mapping[Key, tuple[str, traffic.Traffic]], wishes: Mapping[Key, moves.Wish]) -> None:
        """After a round: traffic with the uid of the driver whose agent measured it, and wishes."""
        self._measured, self._wishes = measured, wishes

    def laid_into(self, view: views.JobView) -> views.JobView:
        """The view with what is known of its job."""
        uid, measured = self._measured.get(view.job.key, ("", None))
        is_there = any(pod.uid == uid and pod.role == names.DRIVER for pod in view.pods)
        return dataclasses.replace(
            view, traffic=measured if is_there else None, wish=self._wishes.get(view.job.key) if is_there else None
        )
