from dataclasses import replace

import pytest
from benchmarks.search_cases import SearchCase, check_work, search_cases, write_cases
from benchmarks.settings import SETTINGS

from regard.errors import DataError, RegardError


def test_every_source_is_as_long_as_the_outputs_and_none_is_trained_on(toy, tmp_path):
    cases = [SearchCase("some", 5, 3, 4), SearchCase("few", 5, 1, 2)]
    write_cases(toy, cases, tmp_path)
    some, few = ((tmp_path / f"first{count}.source").read_text().splitlines() for count in (12, 2))
    assert (len(some), len(few)) == (12, 2)
    assert some[:2] == few
    assert {len(line.split()) for line in some} == {4}
    both = (tmp_path / "first12.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in both] == some
    assert len((tmp_path / "train.source").read_text().splitlines()) == toy.corpus.train


def test_a_length_that_the_corpus_lacks_is_an_error(toy, tmp_path):
    with pytest.raises(DataError, match="toy: 0 sources of 9 words were generated and 4 are needed"):
        write_cases(replace(toy, output_words=9), [SearchCase("some", 5, 2, 2)], tmp_path)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=str)
def test_both_settings_have_beam_greedy_and_single_sentence(setting):
    assert [(case.beam, case.batch) for case in search_cases(setting)] == [(5, 32), (1, 32), (5, 1)]
    assert setting.output_words == {"mt": 20, "char": 14}[setting.name]


CASE = SearchCase("some", 5, 2, 3)
MEASURED = {"seconds": [9.0, 0.5, 0.25], "total_seconds": 12.0, "peak_bytes": 7}
OUTPUTS = ["a b c"] * 6


def test_speed_is_that_of_the_median_batch_without_the_first():
    timing = check_work(
        {**MEASURED, "seconds": [9.0, 0.5, 4.0, 0.25]}, SearchCase("some", 5, 2, 4), 3, ["a b c"] * 8
    )
    assert timing.sentences_per_second == 4
    assert timing.tokens_per_second == 12
    assert timing.milliseconds == 250
    assert timing.to_json()["outputs"] == ["a b c"]


def test_a_run_that_did_other_work_is_an_error():
    check_work(MEASURED, CASE, 3, OUTPUTS)
    with pytest.raises(RegardError, match="3 batches of 2 were expected and 2 searched"):
        check_work({**MEASURED, "seconds": [1.0, 1.0]}, CASE, 3, OUTPUTS)
    with pytest.raises(RegardError, match="6 outputs of 3 words were expected; there are 6, of 2, 3 words"):
        check_work(MEASURED, CASE, 3, ["a b", *OUTPUTS[1:]])
    with pytest.raises(RegardError, match="there are 5"):
        check_work(MEASURED, CASE, 3, OUTPUTS[1:])
