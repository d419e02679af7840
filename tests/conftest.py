"""How many examples the property tests draw: `HYPOTHESIS_PROFILE` names a profile.

`default` is quick enough to run before every commit, `ci` looks three times as long,
`nightly` is for a machine that has the night.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("default", max_examples=100, deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("default"), max_examples=300)
settings.register_profile(
    "nightly",
    settings.get_profile("default"),
    max_examples=20_000,
    suppress_health_check=[HealthCheck.too_slow],
)
# What the tester has chosen for a host of their own is no part of any test.
os.environ.pop("CLAUDE_CONFIG_DIR", None)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
