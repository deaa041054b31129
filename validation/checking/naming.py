"""The function that `MODULE:FUNCTION` or `FILE.py:FUNCTION` names, imported here."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from ...exact.errors import InputError

HOW = "write MODULE:FUNCTION, say mysolver:fit, or FILE.py:FUNCTION"


def check_name(name: str) -> None:
    """Refuse what cannot name a function."""
    module, _, path = name.partition(":")
    if not (module and path) or (os.sep in module and not module.endswith(".py")):
        raise InputError(f"{name}: {HOW}")


def load_function(name: str) -> Callable[..., Any]:
    """Return the function that `name` stands for, the current folder searched first."""
    check_name(name)
    module_name, _, path = name.partition(":")
    module = _of_file(module_name) if module_name.endswith(".py") else _imported(module_name)
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            hint = meant(part, (k for k, value in vars(found).items() if callable(value)))
            raise InputError(f"{module_name} has no {path}{hint}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{name} is not a function")
    return found


def _of_file(name: str) -> ModuleType:
    """Return the module that the file holds; what it imports from its own folder is found."""
    file = Path(name).resolve()
    if not file.is_file():
        raise InputError(f"{name}: no such file")
    sys.path.insert(0, str(file.parent))
    module = _imported(file.stem)
    if Path(getattr(module, "__file__", None) or "").resolve() != file:
        raise InputError(f"{name}: another module is called {file.stem}; rename the file")
    return module


def _imported(name: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # whatever the module's own code raises
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is None or not f"{name}.".startswith(f"{missing}."):
            raise InputError(f"cannot import {name}: {described(error)}") from error
        hint = meant(name, (file.stem for file in Path.cwd().glob("*.py")))
        where = "in this folder or on Python's path"
        raise InputError(f"cannot import {name}: no {missing} {where}{hint}") from error


def meant(word: str, names: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the name that is nearest, or nothing."""
    close = get_close_matches(word, list(names), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def described(error: BaseException) -> str:
    """Return the error's type, its message, and where it was raised."""
    text = " ".join(str(error).split())
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    place = ""
    if frames:
        place = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})"
    elif isinstance(error, TypeError):
        place = " (a fit is called as fit(X, y, lam))"
    return f"{type(error).__name__}{': ' if text else ''}{text[:300]}{place}"


def _is_ours(file: str) -> bool:
    """Whether the file is one of those that call a fit, or Python's own importer."""
    held = ("<frozen", importlib.__file__)
    return file.startswith(held) or Path(file).parent == Path(__file__).parent
