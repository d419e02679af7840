"""`python -m msdcomp`, the same as the command `msd`."""

from __future__ import annotations

import sys

from msdcomp.cli import main

sys.exit(main())
