"""Options of the command line whose values are names out of a list of the library."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click


class NameOf(click.Choice):
    """A name out of a list of `aucert.exact`, which is imported only where a name is looked up."""

    case_sensitive = True

    def __init__(self, module: str, names: str):
        self.module, self.names = module, names

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names."""
        names = getattr(import_module(f"..exact.{self.module}", __package__), self.names)
        found: Any = names() if callable(names) else names
        return tuple(found)
