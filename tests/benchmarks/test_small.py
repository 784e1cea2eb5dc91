"""Learning from 100 pairs: the strings, the command that is run, and the bounds beside the outcomes."""

import json

import pytest

from benchmarks import small
from regard.errors import RegardError


def test_strings_are_different_and_follow_from_their_seed():
    strings = small.make_strings("a", 300)
    assert len(set(strings)) == 300
    assert strings == small.make_strings("a", 300) != small.make_strings("b", 300)
    assert sum(map(len, strings)) / 300 == pytest.approx(6, abs=0.5)  # √(6/300) = 0.14 is one deviation
    assert min(map(len, strings)) >= 1
    uniform = small.make_strings("a", 300, "3-5", "01234")
    assert {len(word) for word in uniform} == {3, 4, 5}
    assert set("".join(uniform)) == set("01234")


@pytest.mark.parametrize("with_valid", [True, False])
def test_the_default_command_is_measured(monkeypatch, with_valid):
    commands, rows = [], {}

    def run(arguments, threads):
        commands.append(arguments)
        for name in arguments:
            if name.endswith(".tsv"):
                split = name.rpartition("/")[2]
                with open(name, encoding="utf-8") as file:
                    rows[split] = [line.rstrip("\n").split("\t") for line in file]
        return json.dumps({"exact_match": 0.97})

    monkeypatch.setattr(small, "run_regard", run)
    outcome = small.measure("reversed", 3, small.POISSON, "abc", with_valid=with_valid, threads=1)
    [train, evaluate] = commands
    given = ["--train", "--valid"] if with_valid else ["--train"]
    assert [name for name in train if name.startswith("--")] == given
    assert evaluate[0] == "evaluate"
    assert all(len(pairs) == 100 for pairs in rows.values())
    sources = [source for pairs in rows.values() for source, _ in pairs]
    assert len(set(sources)) == len(sources), "a test string was trained on"
    assert all(target == source[::-1] for pairs in rows.values() for source, target in pairs)
    assert small.table([outcome]).rows[0][:5] == ("reversed", "3", "97 %", "98 %", "no")


def test_a_command_that_fails_is_an_error():
    with pytest.raises(RegardError, match=r"regard translate nowhere failed: (?s:.*)nowhere"):
        small.run_regard(["translate", "nowhere"], 1)
