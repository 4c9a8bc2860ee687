"""The papers' experiments as event simulators: what the policies do to queues, batches and tuples.

Called by benches, tests and ``sluice simulate``; standard library alone. In go a scenario and a seed, out comes a
frozen result; the same seed gives the same result. A simulator asks the real policy at every decision, never a copy
of it.

:mod:`sluice_policies.simulate.slots` (Hone), :mod:`sluice_policies.simulate.optimum` (the best in hindsight),
:mod:`sluice_policies.simulate.batches` (Lever), :mod:`sluice_policies.simulate.tuples` (Du & Gupta), and for placement
:mod:`sluice_policies.simulate.topologies` and the what-if of a recorded snapshot,
:mod:`sluice_policies.simulate.whatif`.

What a paper does not publish (service times, pauses, rates) is assumed once, said where it is assumed, and not tuned
until the paper's figure comes out.
"""
