"""Moved to `benchmarks.approx.online_passes`; this address goes with version 0.3."""

from .approx.online_passes import main

if __name__ == "__main__":
    raise SystemExit(main())
