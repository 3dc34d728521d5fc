from attention.measures.predictions import compare_predictions


def test_a_prediction_stands_beside_what_was_measured(capsys):
    compare_predictions({"one": 0.5, "two": None}, {"one": 0.25, "two": 1, "three": 0.75})
    title, *lines = capsys.readouterr().out.splitlines()
    assert title.split() == ["predicted", "measured", "apart"]
    assert [line.split() for line in lines] == [
        ["one", "0.500", "0.250", "0.250"],
        ["two", "none", "1.000"],
        ["three", "none", "0.750"],
    ]
