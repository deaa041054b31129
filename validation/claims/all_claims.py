"""Every module of claims, found in the folders of the papers."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

FOLDERS = ("scaling_up", "sauc", "sht", "nonlinear", "certificates")


def enter_all() -> None:
    """Import the modules, folder by folder, which enters their claims; each once."""
    for folder in FOLDERS:
        package = import_module(f".{folder}", __package__)
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)
