import json

import pytest

from regard.errors import DataError
from regard.tasks.tag.result import Tagging

BIRDS = Tagging(("two", "herons", "fly"), ("NUM", "NOUN", "VERB"), (0.9, 0.75, 0.4))


def test_prints_as_its_tags():
    assert str(BIRDS) == "NUM NOUN VERB"


def test_json_holds_everything():
    written = BIRDS.to_json()
    assert json.loads(json.dumps(written)) == written
    assert written == {
        "words": ["two", "herons", "fly"],
        "tags": ["NUM", "NOUN", "VERB"],
        "probabilities": [0.9, 0.75, 0.4],
    }


def test_plot_writes_each_word_and_its_tag(tmp_path):
    path = tmp_path / "tags.svg"
    BIRDS.plot(path, title="Birds")
    written = path.read_text()
    for text in ("Birds", *BIRDS.words, *BIRDS.tags):
        assert f">{text}</text>" in written


@pytest.mark.parametrize(
    ("tags", "probabilities", "message"),
    [
        (("NUM",), (1.0, 1.0), "'two herons': 1 tags for 2 words"),
        (("NUM", "NOUN"), (1.0,), "'two herons': 1 probabilities for 2 words"),
    ],
)
def test_one_tag_a_word(tags, probabilities, message):
    with pytest.raises(DataError, match=message):
        Tagging(("two", "herons"), tags, probabilities)


def test_a_notebook_shows_each_word_above_its_tag():
    page = BIRDS._repr_html_()
    assert '<b dir="auto">herons</b>' in page
    assert ">VERB?<" in page  # less probable than not
    assert ">NOUN<" in page


def test_json_is_read_back():
    assert Tagging.from_json(json.loads(json.dumps(BIRDS.to_json()))) == BIRDS
