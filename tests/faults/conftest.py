"""The kernels of the placer are compiled before any test's clock runs."""

from policies import conftest as _compiled  # noqa: F401
