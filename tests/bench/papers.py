"""``make bench NAME=papers``: the papers' figures and tables anew, each beside the paper's own number and baseline.

One part per paper; each measures through the ledger, draws its figures, and gives tables and bars. Nothing here
decides: the simulators of :mod:`sluice_policies.simulate` ask the real policies. A figure that cannot be reproduced is
reported with the reason; no simulator is tuned until it shows the paper's number.
"""

from bench import papers_hone, papers_lever, papers_placement, papers_steps, papers_tail

PARTS = (papers_steps, papers_lever, papers_hone, papers_tail, papers_placement)
