"""Make the page on speed anew: `python -m aucert.validation.benchmarks.speed --out docs`."""

from .page import main

if __name__ == "__main__":
    raise SystemExit(main())
