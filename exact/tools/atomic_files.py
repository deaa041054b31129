"""Writing files: complete or not at all."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError, WriteError


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a temporary name, then put it in its place, with links followed and
    permissions kept. Any other kind of file (`/dev/stdout`, a pipe) is written directly."""
    final = target_of(path)
    try:
        if final.exists() and not final.is_file():
            with open(final, "wb") as file:
                write(file)
        else:
            _replace(final, write)
    except Exception as error:
        found, link = None, error  # the first error of the system in the chain
        while link is not None:
            found = link if isinstance(link, OSError) else found
            link = link.__cause__ or link.__context__
        if found is None:
            raise
        raise WriteError(f"{path}: cannot be written ({found.strerror or found})") from error


def target_of(path: str | Path) -> Path:
    """Return the true place of a file to be written; a folder, or none to hold it, is refused."""
    final = Path(os.path.realpath(path))
    if final.is_dir():
        raise InputError(f"{path}: this is a folder, a file name is needed")
    if not final.parent.is_dir():
        raise InputError(f"{path}: no folder {final.parent}: make it first")
    return final


def _replace(final: Path, write: Callable[[BinaryIO], object]) -> None:
    temporary = final.with_name(f".{final.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        # "x" and not a private temporary file: the permissions are those of any new file.
        with open(temporary, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if final.exists():
            shutil.copymode(final, temporary)
        os.replace(temporary, final)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
