"""What a sandbox is stopped for where the machine itself is short of memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from guest import meter
from guest.meter import CROWD, Meter, memory_is_short

LIMITS = {"memory_bytes": 1 << 30, "scratch_bytes": 1 << 30, "scratch_files": 1000}


@pytest.mark.parametrize(
    ("total", "available", "short"),
    [
        (24 << 20, 900 << 10, True),
        (24 << 20, 1100 << 10, False),
        (4 << 20, 300 << 10, False),
        (4 << 20, 200 << 10, True),
    ],
)
def test_memory_is_short_below_a_share_and_a_size(total: int, available: int, short: bool, tmp_path: Path) -> None:
    path = tmp_path / "meminfo"
    path.write_text(f"MemTotal:       {total} kB\nMemFree:   1 kB\nMemAvailable:   {available} kB\n")
    assert memory_is_short(str(path)) is short


def test_a_kernel_that_does_not_tell_is_never_short(tmp_path: Path) -> None:
    assert not memory_is_short(str(tmp_path / "none"))
    (tmp_path / "odd").write_text("MemTotal: 5 kB\n")
    assert not memory_is_short(str(tmp_path / "odd"))


@pytest.mark.parametrize(
    ("short", "processes", "size", "excess"),
    [
        (True, CROWD + 1, 0, "memory"),
        (True, CROWD, 0, None),
        (True, 2, 300 << 20, "memory"),  # 600 MiB of 1024
        (True, 2, 200 << 20, None),
        (False, CROWD + 1, 0, None),
        (False, 2, 300 << 20, None),
    ],
)
def test_where_memory_is_short_crowds_and_large_sandboxes_are_stopped(
    short: bool, processes: int, size: int, excess: str | None, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(meter, "memory_is_short", lambda: short)
    monkeypatch.setattr(meter, "live_descendants", lambda own_namespace: set(range(10**7, 10**7 + processes)))
    monkeypatch.setattr(meter, "resident_bytes", lambda pid: size)
    monkeypatch.setattr(meter, "proportional_bytes", lambda pid: size)
    assert Meter(str(tmp_path), LIMITS, own_namespace=False).excess() == excess


@pytest.mark.parametrize(("second", "excess"), [(200 << 20, None), (1200 << 20, "memory")])
def test_a_page_that_counts_twice_while_forks_begin_stops_nothing(
    second: int, excess: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    readings = iter([1200 << 20, second])
    monkeypatch.setattr(meter, "memory_is_short", lambda: False)
    monkeypatch.setattr(meter, "live_descendants", lambda own_namespace: {10**7})
    monkeypatch.setattr(meter, "resident_bytes", lambda pid: 2 << 30)
    monkeypatch.setattr(meter, "proportional_bytes", lambda pid: next(readings))
    assert Meter(str(tmp_path), LIMITS, own_namespace=False).excess() == excess
