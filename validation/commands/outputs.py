"""The folder of `--out`: made before the work, so that a bad name costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...exact.errors import InputError


@contextmanager
def output_folder(name: str | None) -> Iterator[Path | None]:
    """Make the folder, and yield it or None; one made here is removed if nothing comes of it.

    Raises
    ------
    InputError
        If there is a file of that name.
    OSError
        If it cannot be made.
    """
    if name is None:
        yield None
        return
    folder = Path(name)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {name}: this is a file, a folder is needed")
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    except BaseException:  # an interrupt too
        if made:
            with suppress(OSError):  # somebody else has put something there
                folder.rmdir()
        raise
