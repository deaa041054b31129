"""What a file declares, or an option asks for, is measured before anything of it is made."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..exact.errors import TooLargeError

CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def room() -> int | None:
    """Return the bytes of memory that this process can have at most; None where nobody says."""
    found = []
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(os.sysconf_names):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in map(Path, CGROUP_LIMITS):
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        found += [int(text)] if text.isdigit() else []  # "max" means without a limit
    if sys.platform != "win32":
        import resource

        limits = [
            resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)
        ]
        found += [limit for limit in limits if limit != resource.RLIM_INFINITY]
    return min((size for size in found if size > 0), default=None)


def check_room(what: str, size: int, do: str) -> None:
    """Raise if something is larger than all the memory that there is."""
    limit = room()
    if limit is not None and size > limit:
        raise TooLargeError(
            f"{what}: {shown(size)} of memory, where {shown(limit)} can be had: {do}"
        )


def shown(size: int) -> str:
    """Return bytes as people write them."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
    power = 0
    while size >= 1024 ** (power + 1) and power < len(units) - 1:
        power += 1
    return f"{size / 1024**power:.{3 if power else 4}g} {units[power]}"
