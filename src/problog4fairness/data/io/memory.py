"""How much memory there is, so that a file which unpacks to more than that is refused instead of read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

# A table is copied while it is worked on, so it may take this share of what is free.
SHARE = 0.5
# Columns of a table; each costs pandas far more than its values do where there are few.
MOST_COLUMNS = 30_000
# The limit and the use of a container's memory, in the second and the first version of control groups.
_CONTROL_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def allowed() -> int:
    """The bytes that a table may take."""
    return int(SHARE * available())


def available() -> int:
    """The bytes of memory that are free, also within a container; all there are where nobody says what is free."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found.append(1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))))
    for names in _CONTROL_GROUPS:
        with suppress(OSError, ValueError):
            limit, used = (int(Path(name).read_text(encoding="ascii")) for name in names)
            found.append(max(0, limit - used))
    return min(found)
