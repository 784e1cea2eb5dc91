"""A closed set of names: what was learnt comes back, what was not is refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.text import Labels, Place


@given(st.lists(st.text(min_size=1), min_size=2).filter(lambda names: len(set(names)) > 1))
def test_names_and_ids_are_each_others_inverse_in_an_order_the_data_does_not_decide(names):
    labels = Labels.learn(names)
    assert labels == Labels.learn(reversed(names)) == Labels(labels.names)
    assert set(labels) == set(names)
    assert [labels.id_of(name) for name in labels] == list(range(len(labels)))
    assert [labels.name_of(i) for i in range(len(labels))] == list(labels.names) == sorted(labels)


def test_the_order_of_a_stored_list_is_kept():
    stored = Labels(["positive", "negative"])
    assert stored.names == ("positive", "negative")
    assert stored.id_of("negative") == 1
    assert stored != Labels(["negative", "positive"])


def test_an_unknown_label_is_named_with_its_place_and_the_nearest():
    labels = Labels(["neutral", "positive"])
    with pytest.raises(DataError) as caught:
        labels.id_of("postive", Place("dev.tsv", 7))
    assert str(caught.value) == (
        "dev.tsv:7: the label 'postive' was not in the training data; did you mean 'positive'? (known: neutral, "
        "positive)"
    )
    with pytest.raises(
        DataError, match=r"^the label '5' was not in the training data; known: neutral, positive$"
    ):
        labels.id_of("5")


def test_what_is_no_set_of_labels():
    with pytest.raises(DataError, match="every label is 'x'; at least two different labels are needed"):
        Labels.learn(["x", "x"])
    with pytest.raises(DataError, match="there is no label"):
        Labels.learn([])
    with pytest.raises(DataError, match="the label 'b' is twice"):
        Labels(["b", "a", "b"])
