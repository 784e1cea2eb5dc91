from dataclasses import replace

import pytest
from benchmarks.demands import Demand, demands, write
from benchmarks.settings import SETTINGS

from regard.errors import DataError


def test_every_source_is_as_long_as_the_outputs_and_none_is_trained_on(toy, tmp_path):
    wanted = [Demand("some", 5, 3, 4), Demand("few", 5, 1, 2)]
    write(toy, wanted, tmp_path)
    some, few = ((tmp_path / f"first{count}.source").read_text().splitlines() for count in (12, 2))
    assert (len(some), len(few)) == (12, 2)
    assert some[:2] == few
    assert {len(line.split()) for line in some} == {4}
    both = (tmp_path / "first12.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in both] == some
    assert len((tmp_path / "train.source").read_text().splitlines()) == toy.corpus.train


def test_a_length_that_the_corpus_has_not_is_refused(toy, tmp_path):
    with pytest.raises(DataError, match="toy: 0 sources of 9 words were drawn and 4 are needed"):
        write(replace(toy, output_words=9), [Demand("some", 5, 2, 2)], tmp_path)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=str)
def test_both_settings_are_asked_for_beam_greedy_and_one_sentence(setting):
    assert [(each.beam, each.batch) for each in demands(setting)] == [(5, 32), (1, 32), (5, 1)]
    assert setting.output_words == {"mt": 20, "char": 14}[setting.name]
