from .validation.cli import program

raise SystemExit(program())
