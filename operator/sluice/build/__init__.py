"""Pure manifest builders, one resource each, for :mod:`sluice.plan`."""
