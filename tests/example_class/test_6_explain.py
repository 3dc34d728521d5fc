"""The example class of 6-explain: every submission gets the score that it deserves."""

from tests.example_class.example_class import (  # noqa: F401  (pytest collects them here)
    graded,
    test_an_unchanged_class_is_recognised,
    test_every_submission_gets_the_score_that_it_deserves,
    test_the_gradebook_and_the_pages_say_the_same,
    test_the_json_keeps_its_contract,
)

ASSIGNMENT = "6-explain"
