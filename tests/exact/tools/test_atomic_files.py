"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from aucert.exact.errors import InputError
from aucert.exact.tools.atomic_files import write_atomically
from loops import each

posix = pytest.mark.skipif(os.name != "posix", reason="links, modes and devices of POSIX")


def test_the_file_is_there_afterwards_and_nothing_else(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.bin", lambda file: file.write(b"new"))
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


@each("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_file_and_leaves_nothing(tmp_path: Path, error) -> None:
    (tmp_path / "a.bin").write_bytes(b"old")

    def fail(file) -> None:
        file.write(b"half")
        file.flush()
        assert (tmp_path / "a.bin").read_bytes() == b"old"
        raise error("stop")

    with pytest.raises(error, match="stop"):
        write_atomically(tmp_path / "a.bin", fail)
    assert (tmp_path / "a.bin").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    def fail(file) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"a\.bin: cannot be written \(No space left"):
        write_atomically(tmp_path / "a.bin", fail)
    assert os.listdir(tmp_path) == []


@posix
def test_permissions_are_those_of_a_new_file_or_of_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "new", lambda file: file.write(b"x"))
    assert mode(tmp_path / "new") == mode(tmp_path / "plain")
    (tmp_path / "new").chmod(0o640)
    write_atomically(tmp_path / "new", lambda file: file.write(b"y"))
    assert mode(tmp_path / "new") == 0o640


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", lambda file: file.write(b"new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@posix
def test_a_device_is_written_and_not_replaced() -> None:
    before = os.stat("/dev/null").st_rdev
    write_atomically("/dev/null", lambda file: file.write(b"x"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.stat("/dev/null").st_rdev == before


def test_a_folder_or_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is a folder, a file name is needed"):
        write_atomically(tmp_path, lambda file: None)
    with pytest.raises(InputError, match=r"there is no folder .*gone: make it first"):
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
