"""The folder of `--out`: made before the work, filled at the end with everything or nothing."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ....exact.errors import InputError
from ....exact.tools.interrupts import finish, held_back


def named_folder(name: str | None, option: str = "--out") -> Path | None:
    """Return the folder of `--out` or another option, or None where there is none.

    Raises
    ------
    InputError
        For an empty name, which would be the folder one stands in, or that of a file.
    """
    if name is None:
        return None
    if not name.strip():
        raise InputError(f"{option} needs the name of a folder ('.' is the one you stand in)")
    folder = Path(name)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{option} {name}: this is a file, a folder is needed")
    return folder


@contextmanager
def output_folder(
    name: str | None,
    check: Callable[[Path], object] = lambda folder: None,
    instead: tuple[str, ...] = (),
    option: str = "--out",
) -> Iterator[Path | None]:
    """Yield a folder to write into, or None; what is in it moves to the named one at the end.

    Nothing moves if anything fails. An interrupt waits for the moves; in a command, one that comes
    after they have begun is not heard. A process that is killed may leave the hidden folder behind,
    never half of a result.

    Parameters
    ----------
    name : str, optional
    check : function of the folder, optional
        Called before the work; raises `InputError` where the folder must not be written to.
    instead : names of files
        Those of them that are not written now are removed: they would belong to another result.
    option : str
        What the command line calls the name.

    Raises
    ------
    InputError
        If there is a file of that name, or the name is empty.
    OSError
        If it cannot be made.
    """
    folder = named_folder(name, option)
    if folder is None:
        yield None
        return
    made = not folder.exists()
    if not made:
        check(folder)
    folder.mkdir(parents=True, exist_ok=True)
    hidden = folder / f".aucert-{secrets.token_hex(8)}.tmp"
    try:
        hidden.mkdir()
        yield hidden
        finish()
        with held_back():
            _move(hidden, folder, instead)
    except BaseException as error:  # an interrupt too
        shutil.rmtree(hidden, ignore_errors=True)
        if made:
            with suppress(OSError):  # somebody else has put something there
                folder.rmdir()
        if isinstance(error, InputError):  # it is about the named folder
            raise type(error)(str(error).replace(f"{hidden.name}{os.sep}", "")) from error
        raise


def _move(hidden: Path, folder: Path, instead: tuple[str, ...]) -> None:
    written = sorted(hidden.iterdir())
    for path in written:
        final = Path(os.path.realpath(folder / path.name))
        if final.is_dir():
            raise InputError(f"{final}: this is a folder, a file is to be written there")
    for name in {*instead} - {path.name for path in written}:
        (folder / name).unlink(missing_ok=True)
    for path in written:
        final = Path(os.path.realpath(folder / path.name))  # links are followed
        if final.exists():
            shutil.copymode(final, path)
        shutil.move(path, final) if final.parent != folder.resolve() else os.replace(path, final)
    hidden.rmdir()
