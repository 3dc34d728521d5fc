"""One setting for the repository, and the links that are made from it."""

from pathlib import Path

import nbformat
import pytest
import yaml

from grader.build.build import with_lessons, with_repository
from grader.build.errors import BuildError
from grader.build.links import Repository, badge, repository_of, with_badge
from grader.course import lessons

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = Repository("a-school/course", "spring/24")
LINK = (
    "https://colab.research.google.com/github/a-school/course/blob/spring/24/notebooks/2-heads/2-heads.ipynb"
)


def setting(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text, "utf-8")
    return folder


def test_repository_and_branch_stand_in_one_place(tmp_path: Path) -> None:
    root = setting(tmp_path, '[tool.course]\nrepository = "a-school/course"\nbranch = "spring/24"\n')
    assert repository_of(root) == ELSEWHERE
    assert ELSEWHERE.colab("2-heads") == LINK
    repository = repository_of(ROOT).name
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "grader").rglob("*.py")]
    for path in pages:
        text = path.read_text("utf-8")
        assert text.count(repository) == text.count("github/" + repository + "/blob/"), path


def test_every_built_page_and_notebook_has_the_link_of_the_setting() -> None:
    where = repository_of(ROOT)
    for name in lessons():
        for folder in ("solutions", "notebooks"):
            first = nbformat.read(ROOT / folder / name / f"{name}.ipynb", as_version=4).cells[0]
            assert first.source == badge(where.colab(name))
        for page in ("README.md", "docs/students.md"):
            assert where.colab(name) in (ROOT / page).read_text("utf-8")


def test_another_setting_changes_the_pages_and_the_badge() -> None:
    for page in ("README.md", "docs/students.md"):
        text = with_lessons((ROOT / page).read_text("utf-8"), lessons().values(), ELSEWHERE)
        assert LINK in text
        assert repository_of(ROOT).name not in text
    template = (ROOT / "docs/classroom/grade.yml").read_text("utf-8")
    assert with_repository(template, repository_of(ROOT)) == template
    environment = yaml.safe_load(with_repository(template, ELSEWHERE))["env"]
    assert (environment["COURSE"], environment["BRANCH"]) == ("a-school/course", "spring/24")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title", id="title")])
    assert [cell.id for cell in with_badge(book, LINK).cells] == ["colab", "title"]
    assert [cell.id for cell in book.cells] == ["title"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no repository and branch"),
        ('[tool.course]\nrepository = "a/b"\n', "branch"),
        ('[tool.course]\nrepository = "https://github.com/a/b"\nbranch = "main"\n', 'as "account/name"'),
        ('[tool.course]\nrepository = "a/b"\nbranch = "my branch"\n', "can stand in a link"),
    ],
)
def test_a_setting_that_is_missing_or_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BuildError, match=said):
        repository_of(setting(tmp_path, text))
