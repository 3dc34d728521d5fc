"""A file whose path the operator gave: written whole, or one line that says why not."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from grader.commands.given_file import CannotWrite, write_result, writing

ROOT_USER = os.getuid() == 0


def refused(path: Path) -> str:
    """Try to write a file; return the line that says why it cannot be written."""
    with pytest.raises(CannotWrite) as raised:
        write_result(path, "new")
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_file_is_written_with_the_folder_that_it_lies_in(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "grades.csv"
    write_result(path, "5 ✓\r\n")
    assert path.read_bytes() == "5 ✓\r\n".encode()
    assert [entry.name for entry in path.parent.iterdir()] == ["grades.csv"]


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"cannot write {tmp_path}: it is a folder. Pass the path of a file."


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    path = tmp_path / "notes" / "a" / "grades.csv"
    assert refused(path) == (
        f"cannot write {path}: {tmp_path}/notes is a file, but it must be a folder. Pass another path."
    )
    assert (tmp_path / "notes").read_text() == "mine"


@pytest.mark.skipif(ROOT_USER, reason="root may write everywhere")
def test_a_folder_without_the_right_to_write_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        assert "you may not write there" in refused(tmp_path / "grades.csv")
        assert "you may not write there" in refused(tmp_path / "new" / "grades.csv")
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "you may not write there"),
        (errno.EROFS, "you may not write there"),
        (errno.ENOSPC, "the disk is full. Make room"),
        (errno.EDQUOT, "the disk is full. Make room"),
        (errno.EIO, "Input/output error. Pass another path"),
        (errno.ENAMETOOLONG, "File name too long"),
    ],
)
def test_each_reason_has_its_words_and_the_old_file_stays(
    number: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fail)
    line = refused(path)
    assert line.startswith(f"cannot write {path}: ")
    assert said in line
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["grades.csv"]


def test_a_device_is_written_into_and_stays_a_device(tmp_path: Path) -> None:
    write_result(Path("/dev/null"), "new")
    assert "the disk is full" in refused(Path("/dev/full"))
    for device in ("/dev/null", "/dev/full"):
        assert stat.S_ISCHR(os.stat(device).st_mode)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_result(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_private_file_is_never_readable_by_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "autograder.zip"
    path.write_text("old")
    path.chmod(0o644)
    seen = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda one, other: (seen.append(os.stat(one).st_mode), replace(one, other)))
    write_result(path, b"secret", private=True)
    assert stat.S_IMODE(seen[0]) == stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o664])
def test_a_file_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("old")
    path.chmod(mode)
    write_result(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_what_is_written_bit_by_bit_has_the_same_words(tmp_path: Path) -> None:
    full = Path("/dev/full")
    with pytest.raises(CannotWrite, match="/dev/full: the disk is full"), writing(full):
        full.write_text("{}\n")
    with pytest.raises(CannotWrite, match="it is a folder"), writing(tmp_path):
        tmp_path.open("w")


def test_a_secret_goes_into_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CannotWrite, match="you may not write there"):
        write_result(tmp_path / "pipe", "secret", private=True)


def test_a_link_is_opened_itself_so_that_the_kernel_may_refuse_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").write_text("old")
    (tmp_path / "link").symlink_to("mine")

    def refuse(path: Path, *_: object) -> int:
        assert path == tmp_path / "link"
        raise PermissionError(errno.EACCES, "Permission denied")  # as with fs.protected_symlinks

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(CannotWrite, match="you may not write there"):
            write_result(tmp_path / "link", "new")
    assert (tmp_path / "mine").read_text() == "old"
