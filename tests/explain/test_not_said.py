"""Sentences that were once said of answers of which they are not true."""

from __future__ import annotations

import pytest

from corpus.judging import verdict
from grader.course import lessons
from grader.records import Outcome

FROZEN = """
def image_tokens(encoder, aligner, patches):
    with torch.no_grad():
        features = encoder(patches)
    return {}
"""
SHUFFLED = """
def shuffle_questions(token_ids, image_patches, generator):
    order = torch.randperm(len(token_ids), generator=generator)
    return {}
"""


@pytest.mark.parametrize(
    ("exercise", "answer", "not_said"),
    [
        # The task asks for an encoder that does not learn: that is no gradient which is lost.
        *(
            ("4.7", FROZEN.format(wrong), "gradient")
            for wrong in (
                "aligner(torch.nn.functional.normalize(features, dim=-1))",
                "torch.nn.functional.relu(aligner(features))",
                "aligner(features) * 2",
                "aligner(features + 1)",
            )
        ),
        # With the generator that is handed in, the draw is the one that is asked for.
        *(
            ("3.P7", SHUFFLED.format(wrong), "draws random numbers")
            for wrong in (
                "token_ids[order], image_patches",
                "image_patches[order], token_ids[order]",
                "token_ids[order] + 1, image_patches[order]",
            )
        ),
    ],
)
def test_a_right_line_is_not_blamed(exercise: str, answer: str, not_said: str) -> None:
    lesson = next(lesson for lesson in lessons().values() if any(one.id == exercise for one in lesson.exercises))
    judged = verdict(lesson, lesson.exercise(exercise), answer)
    assert judged.outcome is Outcome.FAILED
    assert judged.hint
    assert not_said not in judged.hint


def test_a_comparison_that_the_code_does_not_have_is_not_spoken_of() -> None:
    """Here the diagonal is left out of a sum. So it would be with == 1 in the place of <= 1, and nothing is compared with 1."""
    answer = """
def classify_pattern(weights):
    share = weights / weights.sum()
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if share.sum(0).max() >= 0.5:
        return "hub"
    if share.diagonal().sum() >= 0.5:
        return "diagonal"
    return "local" if share.diagonal(1).sum() + share.diagonal(-1).sum() >= 0.75 else "other"
"""
    lesson = lessons()["2-heads"]
    judged = verdict(lesson, lesson.exercise("2.P2"), answer)
    assert judged.outcome is Outcome.FAILED
    assert "the comparison with" not in judged.hint
