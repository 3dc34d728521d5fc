"""What a person who opens the executed notebook is shown."""

from __future__ import annotations

import base64

import pytest

from grader.sandbox.replies import sanitize

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()


def shown(data: dict) -> dict:
    (output,) = sanitize([{"output_type": "display_data", "data": data, "metadata": {"x": 1}}], b"", 10_000)
    assert output["metadata"] == {}
    return output["data"]


@pytest.mark.parametrize(
    "kind",
    ["text/html", "image/svg+xml", "application/javascript", "text/latex", "text/markdown", "application/json",
     "application/vnd.jupyter.widget-view+json"],
)  # fmt: skip
def test_what_could_run_in_a_browser_is_not_kept(kind):
    assert shown({kind: "<script>alert(1)</script>", "text/plain": "twin"}) == {"text/plain": "twin"}


def test_pictures_are_kept_when_they_are_pictures():
    assert shown({"image/png": PNG}) == {"image/png": PNG}
    assert shown({"image/png": PNG + "\n"}) == {"image/png": PNG}
    assert shown({"image/jpeg": PNG}) == {}
    assert shown({"image/png": '"><script>'}) == {}
    assert shown({"image/png": base64.b64encode(b"<svg onload=x>").decode()}) == {}


@pytest.mark.parametrize(
    "forged",
    [None, {}, "text", [None, 3, [], {}], [{"output_type": "stream"}], [{"output_type": "stream", "name": "x", "text": "y"}],
     [{"output_type": "error", "ename": 1, "evalue": 2, "traceback": 3}],
     [{"output_type": "execute_result", "data": [], "execution_count": "1"}]],
)  # fmt: skip
def test_forged_outputs_are_dropped(forged):
    assert sanitize(forged, b"", 1000) == ()


def test_lengths_are_bounded_and_the_cut_is_said():
    text = {"output_type": "stream", "name": "stdout", "text": "x" * 400}
    kept = sanitize([text] * 9, b"", 1000)
    assert [output["text"][:5] for output in kept] == ["xxxxx", "xxxxx", "[The "]
    assert len(sanitize([text] * 5000, b"", 10**9)) == 1000


def test_what_was_written_past_python_comes_last():
    kept = sanitize([{"output_type": "stream", "name": "stderr", "text": "first"}], b"raw \xff\x1b[0m", 1000)
    assert [output["text"] for output in kept] == ["first", "raw \ufffd[0m"]
