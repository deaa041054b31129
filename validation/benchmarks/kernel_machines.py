"""Moved to `benchmarks.exact.kernel_machines`; this address goes with version 0.3."""

from .exact.kernel_machines import main

if __name__ == "__main__":
    raise SystemExit(main())
