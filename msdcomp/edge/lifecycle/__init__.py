"""What is installed, changed: parcels, plans, carrying them out, and recovery.

Source: docs/explanation/lifecycle.md.
"""

from msdcomp.edge.lifecycle.applying import Done, apply
from msdcomp.edge.lifecycle.parcel import Parcel
from msdcomp.edge.lifecycle.planning import Prepared, plan_install, plan_removal
from msdcomp.edge.lifecycle.procuring import procure, procure_again
from msdcomp.edge.lifecycle.reconciling import Settled, Trace, reconcile, traces
from msdcomp.edge.lifecycle.site import Site, find_site, sites

__all__ = [
    "Done",
    "Parcel",
    "Prepared",
    "Settled",
    "Site",
    "Trace",
    "apply",
    "find_site",
    "plan_install",
    "plan_removal",
    "procure",
    "procure_again",
    "reconcile",
    "sites",
    "traces",
]
