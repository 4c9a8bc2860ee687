"""Compiles a loop once and keeps the machine code, or leaves it plain Python where numba is not to be had.

The result is the same either way, byte for byte: one source, whole numbers and a draw of our own (no float's rounding
decides a plan differently). Plain Python is about a hundred times slower.

numba's own cache wants a folder it can write to, and raises at import where there is none: a container's read-only
root. Here a folder that can be read is enough; what cannot be kept is compiled for this process alone. numba's setting
NUMBA_CACHE_LOCATOR_CLASSES could choose such a folder, but not forgive a write that fails, and would hold for every
library of the process. So its cache is subclassed, which numba does not promise to keep possible: the tests with a
read-only folder and with kept code tell when it is not. The image fills NUMBA_CACHE_DIR when it is built. A kernel's
kept code is good for the sources of the whole package, not of its own file alone: kernels call each other.
"""

import contextlib
import hashlib
import pkgutil
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

try:
    import numba
    from numba.core import caching
except ImportError:  # no wheel for this machine, or left out on purpose
    COMPILED = False
else:
    COMPILED = not numba.config.DISABLE_JIT

SOURCES = ("anneal", "coarsen", "compiled", "descend", "graph", "grow", "search", "split", "table")
_In = ParamSpec("_In")
_Out = TypeVar("_Out")


def stamp() -> str:
    """What tells one version of the kernels from another."""
    found = hashlib.sha256()
    for name in SOURCES:
        found.update(pkgutil.get_data("sluice_policies.kernels", f"{name}.py") or b"")
    return found.hexdigest()


if COMPILED:
    _STAMP = stamp()

    class _ReadableFolder:
        """Mixed into numba's locators: being able to read is enough."""

        def ensure_cache_path(self) -> None:
            with contextlib.suppress(OSError):
                super().ensure_cache_path()  # type: ignore[misc]  # the locator it is mixed into

        def get_source_stamp(self) -> str:
            return _STAMP

    class _UsersFolder(_ReadableFolder, caching.UserProvidedCacheLocator):  # type: ignore[misc]
        """NUMBA_CACHE_DIR, if it is set."""

    class _OurFolder(_ReadableFolder, caching.InTreeCacheLocator):  # type: ignore[misc]
        """`__pycache__` beside the source."""

    class _Place(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (_UsersFolder, _OurFolder)

    class _Kept(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = _Place

        def save_overload(self, sig: object, data: object) -> None:
            with contextlib.suppress(OSError):  # read-only: this process keeps it in memory
                super().save_overload(sig, data)


def kernel(loop: Callable[_In, _Out]) -> Callable[_In, _Out]:
    """The loop, compiled at its first call if numba is here."""
    return _compile(loop, forceinline=False)


def inlined(loop: Callable[_In, _Out]) -> Callable[_In, _Out]:
    """A kernel made part of each that calls it: a call hands over seven words for each array, too many for one edge."""
    return _compile(loop, forceinline=True)


def _compile(loop: Callable[_In, _Out], *, forceinline: bool) -> Callable[_In, _Out]:
    if not COMPILED:
        return loop
    made = numba.njit(loop, boundscheck=False, nogil=True, forceinline=forceinline)
    made._cache = _Kept(loop)  # noqa: SLF001  # what `cache=True` does, with our idea of a folder
    return cast("Callable[_In, _Out]", made)
