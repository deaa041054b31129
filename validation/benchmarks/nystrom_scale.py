"""Moved to `benchmarks.approx.nystrom_scale`; this address goes with version 0.3."""

from .approx.nystrom_scale import main

if __name__ == "__main__":
    raise SystemExit(main())
