"""Load the installed package before pytest meets the `__init__.py` at the repository root.

pytest imports that file for its own bookkeeping. In a clone whose folder is named `aucert` it
would register it as `aucert`, and every later import would silently test the checkout.
"""

from __future__ import annotations

import aucert


def pytest_report_header() -> str:
    return f"aucert: {aucert.__version__} from {aucert.__file__}"
