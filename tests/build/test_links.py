"""One setting for the repository, and the links that are made from it."""

import subprocess
from pathlib import Path

import nbformat
import pytest
import yaml

from grader.build.errors import BuildError
from grader.build.links import (
    BADGE,
    Repository,
    badge,
    linked_pages,
    repository_in,
    repository_of,
    setting_of,
    with_links,
    with_pages_beside,
)
from grader.build.pages import with_lessons, with_repository
from grader.course import lessons

ROOT = Path(__file__).resolve().parents[2]
SITE = "https://a-school.github.io/course"
ELSEWHERE = Repository("a-school/course", "spring/24")
LINK = "https://colab.research.google.com/github/a-school/course/blob/spring/24/notebooks/2-heads/2-heads.ipynb"


def setting(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text, "utf-8")
    return folder


def test_repository_and_branch_stand_in_one_place(tmp_path: Path) -> None:
    root = setting(tmp_path, '[tool.course]\nrepository = "a-school/course"\nbranch = "spring/24"\n')
    assert repository_of(root) == ELSEWHERE
    assert ELSEWHERE.colab("2-heads") == LINK
    placeholder = setting_of(ROOT).name
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "grader").rglob("*.py")]
    assert [path for path in pages if placeholder in path.read_text("utf-8")] == []


PLACEHOLDER = '[tool.course]\nrepository = "your.account/attention-course"\nbranch = "main"\n'


def with_remote(root: Path, url: str) -> Path:
    for command in (["init", "-q"], ["remote", "add", "origin", url]):
        subprocess.run(["git", "-C", str(root), *command], check=True, capture_output=True)
    return root


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/a-school/course.git", "a-school/course"),
        ("https://somebody:secret@github.com/a-school/course", "a-school/course"),
        ("git@github.com:a-school/my.course.git", "a-school/my.course"),
        ("ssh://git@github.com/a-school/course", "a-school/course"),
        ("https://gitlab.com/a-school/course.git", None),
        ("https://example.com/github.com/a-school/course", None),
        ("/srv/course", None),
    ],
)
def test_in_the_place_of_the_placeholder_stands_gits_remote(tmp_path: Path, url: str, name: str | None) -> None:
    root = setting(tmp_path, PLACEHOLDER)
    assert repository_of(root) is None  # no git
    assert repository_of(with_remote(root, url)) == (Repository(name, "main") if name else None)
    setting(root, PLACEHOLDER.replace("your.account/attention-course", "b-school/c"))
    assert repository_of(root) == Repository("b-school/c", "main")
    setting(root, PLACEHOLDER.replace("your.account/attention-course", ""))
    assert repository_of(root) is None


def built(root: Path, repository: Repository | None) -> Path:
    """Write a notebook as `grader build` does for a repository, or for none."""
    notebook = root / "notebooks" / "1-attention" / "1-attention.ipynb"
    notebook.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(with_links(BOOK, "1-attention", repository), notebook)
    return root


def test_the_check_goes_by_what_is_committed_and_not_by_the_remote(tmp_path: Path) -> None:
    root = with_remote(setting(tmp_path, PLACEHOLDER), "https://github.com/a-fork/course")
    assert repository_in(root, "1-attention") is None
    assert repository_in(built(root, None), "1-attention") is None
    assert repository_in(built(root, setting_of(root)), "1-attention") is None  # a badge of an older course
    for committed in (ELSEWHERE, Repository("a-fork/course", "main")):
        assert repository_in(built(root, committed), "1-attention") == committed
    setting(root, PLACEHOLDER.replace("your.account/attention-course", "b-school/c"))
    assert repository_in(root, "1-attention") == Repository("b-school/c", "main")


def test_every_built_page_and_notebook_leads_to_one_repository() -> None:
    where = repository_in(ROOT, "1-attention")
    for name in lessons():
        for folder in ("solutions", "notebooks"):
            text = (ROOT / folder / name / f"{name}.ipynb").read_text("utf-8")
            assert (where.colab(name) in text) if where else BADGE not in text
        for page in ("README.md", "docs/students.md"):
            text = (ROOT / page).read_text("utf-8")
            linked = page == "README.md" or not lessons()[name].optional
            assert ((where.colab(name) in text) == linked) if where else BADGE not in text


def test_another_repository_changes_the_pages() -> None:
    for page in ("README.md", "docs/students.md"):
        text = with_lessons((ROOT / page).read_text("utf-8"), lessons().values(), ELSEWHERE)
        assert LINK in text
        without = with_lessons(text, lessons().values(), None)
        assert "github" not in without.partition("<!-- lessons")[2].partition("<!-- /lessons")[0]
        assert BADGE not in without
    assert "Upload notebook" in without
    template = (ROOT / "docs/classroom/grade.yml").read_text("utf-8")
    assert with_repository(template, setting_of(ROOT)) == template
    environment = yaml.safe_load(with_repository(template, ELSEWHERE))["env"]
    assert (environment["COURSE"], environment["BRANCH"]) == ("a-school/course", "spring/24")


@pytest.mark.parametrize("where", [None, ELSEWHERE])
def test_students_are_told_how_they_get_an_optional_lesson_and_find_no_link_to_it(where) -> None:
    page = (ROOT / "docs/students.md").read_text("utf-8")
    given = with_lessons(page, lessons().values(), where)
    assert (
        "**4-modern**, **5-real**, **6-explain**: not in the zip. Your instructor hands out optional notebooks later"
        in given
    )
    assert "/4-modern.ipynb" not in given
    assert ("/3-vlm.ipynb" in given) == bool(where)
    only = with_lessons(page, [one for one in lessons().values() if one.optional], where)
    assert "not in the zip" not in only, "a zip of optional lessons alone holds them"
    assert ("/4-modern.ipynb" in only) == bool(where)


BOOK = nbformat.v4.new_notebook(
    cells=[
        nbformat.v4.new_markdown_cell("# Title\n\nSee the [words](../../docs/glossary.md#key).", id="title"),
        nbformat.v4.new_code_cell("print('](../../docs/glossary.md)')", id="code"),
    ]
)


def test_a_notebook_gets_a_badge_and_links_that_lead_out_of_colab() -> None:
    made = with_links(BOOK, "2-heads", ELSEWHERE).cells
    assert [cell.id for cell in made] == ["colab", "title", "code"]
    assert made[0].source == badge(LINK)
    assert "[words](https://github.com/a-school/course/blob/spring/24/docs/glossary.md#key)" in made[1].source
    assert made[2] == BOOK.cells[1]
    assert with_links(BOOK, "2-heads", None) == BOOK
    assert [cell.id for cell in BOOK.cells] == ["title", "code"]


def test_with_a_site_notebooks_and_readme_lead_to_the_lessons_pages(tmp_path: Path) -> None:
    text = f'[tool.course]\nrepository = "a-school/course"\nbranch = "main"\nsite = "{SITE}/"\n'
    published = repository_of(setting(tmp_path, text))
    page = f"{SITE}/lessons/2-heads.html"
    assert with_links(BOOK, "2-heads", published).cells[0].source.endswith(f"· [View rendered]({page})")
    readme = with_lessons((ROOT / "README.md").read_text("utf-8"), lessons().values(), published)
    assert f"· [page]({page}) |" in readme
    without = with_lessons(readme, lessons().values(), ELSEWHERE)
    assert SITE not in without
    setting(tmp_path, PLACEHOLDER + f'site = "{SITE}"\n')
    assert repository_of(with_remote(tmp_path, "https://github.com/a/b")) == Repository("a/b", "main", SITE)
    setting(tmp_path, text.replace("https://", "ftp://"))
    with pytest.raises(BuildError, match=r"site is 'ftp://.*write its address"):
        setting_of(tmp_path)


def test_in_the_zip_a_page_lies_beside_the_notebook() -> None:
    assert linked_pages(BOOK.cells[0].source) == {"glossary.md"}
    assert with_pages_beside(BOOK.cells[0].source).endswith("See the [words](glossary.md#key).")


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
