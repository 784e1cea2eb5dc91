import pytest

from regard.datasets.newsroom.dataset import Node, sentence_of


@pytest.fixture
def figure():
    """The FBI is chasing an old criminal on the run."""
    criminal = Node("criminal", before=[Node("a"), Node("old")])
    criminal.after.append(Node("on", after=[Node("run", before=[Node("the")])]))
    agency = Node("FBI", before=[Node("the")])
    chasing = Node("chasing", after=[criminal], also=[agency])
    return Node("is", before=[agency], after=[chasing], agrees=agency)


def test_words_stand_in_their_order_with_a_capital_an_article_and_a_full_stop(figure):
    assert sentence_of(figure).text == "The FBI is chasing an old criminal on the run ."


def test_links_are_heads_dependents_and_what_else_belongs_together(figure):
    sentence = sentence_of(figure)
    named = {(sentence.words[earlier], sentence.words[later]) for earlier, later in sentence.links}
    assert named == {
        ("The", "FBI"),
        ("FBI", "is"),
        ("FBI", "chasing"),
        ("is", "chasing"),
        ("chasing", "criminal"),
        ("an", "criminal"),
        ("old", "criminal"),
        ("criminal", "on"),
        ("on", "run"),
        ("the", "run"),
    }
    assert all(earlier < later < len(sentence.words) - 1 for earlier, later in sentence.links)


def test_the_reach_is_from_the_noun_to_its_finite_verb(figure):
    assert sentence_of(figure).reach == 1
    figure.before[0].after.append(Node("near", after=[Node("banks")]))
    assert sentence_of(figure).reach == 3
    figure.agrees = None
    assert sentence_of(figure).reach == 0
