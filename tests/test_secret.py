import stat
from pathlib import Path

import pytest

from grader.secret import SecretError, course_secret


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADER_SECRET", raising=False)


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    first = course_secret(tmp_path)
    assert len(first) == 64
    assert course_secret(tmp_path) == first
    assert stat.S_IMODE((tmp_path / ".grader" / "secret").stat().st_mode) == 0o600


def test_the_variable_takes_its_place_whatever_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", " ünïcode \n")
    assert course_secret(tmp_path) == " ünïcode \n"
    assert not (tmp_path / ".grader").exists()


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    course_secret(tmp_path)
    path = tmp_path / ".grader" / "secret"
    path.chmod(0o644)
    with pytest.raises(SecretError, match="chmod 600"):
        course_secret(tmp_path)


def test_an_empty_secret_is_refused(tmp_path: Path) -> None:
    course_secret(tmp_path)
    (tmp_path / ".grader" / "secret").write_text("\n")
    with pytest.raises(SecretError, match="is empty"):
        course_secret(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / ".grader").write_text("")
    with pytest.raises(SecretError, match=r"\.grader"):
        course_secret(tmp_path)


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_empty_variable_is_refused_and_no_other_secret_is_made(
    empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_SECRET", empty)
    with pytest.raises(SecretError, match="GRADER_SECRET is empty"):
        course_secret(tmp_path)
    assert not (tmp_path / ".grader").exists()
