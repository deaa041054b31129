"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from aucert.exact.errors import InputError
from aucert.exact.tools.atomic_files import write_atomically
from loops import each

posix = pytest.mark.skipif(os.name != "posix", reason="links, modes and devices of POSIX")


@each("error", [None, RuntimeError("stop"), KeyboardInterrupt("stop"), OSError(28, "No space")])
def test_a_file_is_the_new_one_or_the_old_one(tmp_path, error: BaseException | None) -> None:
    path = tmp_path / "a.bin"
    write_atomically(path, lambda file: file.write(b"old"))

    def write(file: BinaryIO) -> None:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
        if error is not None:
            raise error

    if error is None:
        write_atomically(path, write)
    elif isinstance(error, OSError):  # a full disk is one sentence
        with pytest.raises(InputError, match=r"a\.bin: cannot be written \(No space"):
            write_atomically(path, write)
    else:
        with pytest.raises(type(error), match="stop"):
            write_atomically(path, write)
    assert path.read_bytes() == (b"new" if error is None else b"old")
    assert os.listdir(tmp_path) == ["a.bin"]


@posix
def test_permissions_links_and_devices_stay(tmp_path: Path) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "new", lambda file: file.write(b"x"))
    assert mode(tmp_path / "new") == mode(tmp_path / "plain")
    (tmp_path / "new").chmod(0o640)
    (tmp_path / "link").symlink_to("new")
    write_atomically(tmp_path / "link", lambda file: file.write(b"y"))
    assert (tmp_path / "link").is_symlink() and (tmp_path / "new").read_bytes() == b"y"
    assert mode(tmp_path / "new") == 0o640
    before = os.stat("/dev/null").st_rdev
    write_atomically("/dev/null", lambda file: file.write(b"x"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.stat("/dev/null").st_rdev == before


def test_a_folder_or_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is a folder"):
        write_atomically(tmp_path, lambda file: None)
    with pytest.raises(InputError, match=r"no folder .*gone"):
        write_atomically(tmp_path / "gone" / "a", lambda file: None)


@posix
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match=r"cannot be written \(Permission denied\)"):
            write_atomically(tmp_path / "a", lambda file: None)
    finally:
        tmp_path.chmod(0o700)
