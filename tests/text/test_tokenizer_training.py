import json
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.text import KINDS, SPECIALS, UNK, train_tokenizer
from regard.text.tokenizer import BLANKS

LINES = [
    "the quick brown fox jumps over the lazy dog .",
    "the dogs jumped quickly over a brown fence !",
    "quicker foxes are not lazier than slow dogs",
    "a fence is over there , is it not ?",
] * 3


def vocabulary(tokenizer):
    return tokenizer.tokens(range(tokenizer.size))


def test_blanks_are_those_of_str_split():
    ours = {chr(i) for i in range(sys.maxunicode + 1) if re.match(f"[{BLANKS}]", chr(i))}
    assert ours == {chr(i) for i in range(sys.maxunicode + 1) if chr(i).isspace()}


@pytest.mark.parametrize("kind", KINDS)
def test_specials_stand_first_and_pieces_once(kind):
    pieces = vocabulary(train_tokenizer(kind, LINES, size=60))
    assert tuple(pieces[:4]) == SPECIALS
    assert len(set(pieces)) == len(pieces)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [35, 36, 40, 1000])
def test_size_is_never_passed(kind, size):
    learnt = train_tokenizer(kind, LINES, size=size)
    characters = set("".join(LINES))
    full = {
        "char": 4 + len(characters),
        "word": 4 + len({word for line in LINES for word in line.split()}),
        # the blank is counted as ▁
        "bpe": size,
        "unigram": size,
    }
    if kind != "word":
        assert UNK not in {i for ids in learnt.encode_batch(LINES) for i in ids}
    if size <= 40:
        assert learnt.size == min(size, full[kind])
    else:
        assert learnt.size <= 300


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_rare_characters_outlast_frequent_pieces(kind):
    lines = ["the cat sat on the mat", "the dog sat there"] * 30 + ["xyz q"]
    characters = set("".join(lines).replace(" ", "▁"))
    learnt = train_tokenizer(kind, lines, size=4 + len(characters))
    assert sorted(vocabulary(learnt)[4:]) == sorted(characters)


def test_words_and_characters_by_count_and_then_by_code_point():
    lines = ["b a c a", "c d é"]
    assert vocabulary(train_tokenizer("word", lines, size=99))[4:] == ["a", "c", "b", "d", "é"]
    assert vocabulary(train_tokenizer("char", lines, size=99))[4:] == ["␣", "a", "c", "b", "d", "é"]
    assert vocabulary(train_tokenizer("word", lines, size=6))[4:] == ["a", "c"]
    assert vocabulary(train_tokenizer("char", lines, size=6))[4:] == ["␣", "a"]


def test_blank_is_known_to_characters_though_never_seen():
    learnt = train_tokenizer("char", ["ab"], size=9)
    assert learnt.tokens(learnt.encode("a b")) == ["a", "␣", "b"]


@given(st.lists(st.text("abcde ", min_size=1), min_size=1), st.integers(1, 3))
def test_word_counts_agree_with_a_plain_count(lines, min_frequency):
    counts = Counter(word for line in lines for word in line.split())
    if not counts:
        with pytest.raises(DataError, match="an empty corpus"):
            train_tokenizer("word", lines, size=1000)
        return
    learnt = train_tokenizer("word", lines, size=1000, min_frequency=min_frequency)
    expected = sorted((-n, word) for word, n in counts.items() if n >= min_frequency)
    assert vocabulary(learnt)[4:] == [word for _, word in expected]


@pytest.mark.parametrize("kind", ["char", "bpe", "unigram"])
def test_rare_characters_are_unknown(kind):
    lines = ["foo bar food bard"] * 5 + ["foß"]
    assert "<unk>" in train_tokenizer(kind, lines, size=99, min_frequency=2).decode(
        train_tokenizer(kind, lines, size=99, min_frequency=2).encode("foß")
    )
    learnt = train_tokenizer(kind, lines, size=99, min_frequency=1)
    assert learnt.decode(learnt.encode("foß")) == "foß"


def test_rare_merges_are_not_learnt():
    assert "▁foo" in vocabulary(train_tokenizer("bpe", ["foo foo foo"], size=99, min_frequency=3))
    assert "▁foo" not in vocabulary(train_tokenizer("bpe", ["foo foo o f f o"], size=99, min_frequency=3))


@pytest.mark.parametrize("kind", KINDS)
def test_lowercase_and_composition_are_part_of_the_tokenizer(kind):
    learnt = train_tokenizer(kind, ["Éa B", "e\u0301a b"], size=99, lowercase=True)
    assert learnt.decode(learnt.encode("E\u0301A B")) == "éa b"
    kept = train_tokenizer(kind, ["Éa B", "e\u0301a b"], size=99)
    assert kept.decode(kept.encode("E\u0301a B e\u0301a b")) == "Éa B éa b"
    assert "é" in "".join(vocabulary(kept))
    assert all(unicodedata.is_normalized("NFC", piece) for piece in vocabulary(kept))


PROGRAM = """
import json, sys
from regard.text import KINDS, train_tokenizer
lines = json.load(sys.stdin)
learnt = {kind: train_tokenizer(kind, lines, size=120) for kind in KINDS}
json.dump({k: [t.tokens(range(t.size)), t.encode_batch(lines)] for k, t in learnt.items()}, sys.stdout)
"""


def test_equal_lines_give_equal_ids_in_every_process():
    answers = set()
    for seed, threads in (("1", "true"), ("2", "false")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "TOKENIZERS_PARALLELISM": threads}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps(LINES),
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        assert done.stderr == ""
        answers.add(done.stdout)
    assert len(answers) == 1


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["bpe", "unigram"]),
    st.lists(st.text("abcdß ", min_size=1, max_size=30), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
)
def test_pieces_depend_on_neither_run_nor_order(tmp_path_factory, kind, lines, random):
    lines = ["abcdß", *lines]
    shuffled = random.sample(lines, len(lines))
    folder = tmp_path_factory.mktemp("saved")
    for n, given_lines in enumerate((lines, lines, shuffled)):
        train_tokenizer(kind, given_lines, size=30).save(folder / str(n))
    assert len({(folder / str(n)).read_bytes() for n in range(3)}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_odd_code_points_are_characters_like_any_other(kind):
    lines = ["a\0b \x01\ufffe \U0010ffff🙂 \u200d\ufeff"] * 3
    learnt = train_tokenizer(kind, lines, size=99)
    assert learnt.decode(learnt.encode(lines[0])) == lines[0]


def test_progress_is_not_printed(capfd):
    for kind in KINDS:
        train_tokenizer(kind, LINES, size=60)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"kind": "bep", "size": 50}, "'bep' is not a kind of tokenizer; did you mean 'bpe'"),
        ({"kind": "word", "size": 4}, "a vocabulary of 4 is too small"),
        ({"kind": "word", "size": 9, "min_frequency": 0}, "min_frequency is 0"),
        (
            {"kind": "bpe", "size": 12},
            r"of 12 is too small for 31 different characters .* make it 35 or more",
        ),
        ({"kind": "unigram", "size": 12}, r"of 12 is too small for 31 different characters .* make it 35"),
        ({"kind": "bpe", "size": 99, "min_frequency": 999}, "min_frequency is 999, and every word has a character that is rarer"),
    ],
)
def test_impossible_options(arguments, said):
    with pytest.raises(ConfigError, match=said):
        train_tokenizer(lines=LINES, **arguments)


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_is_an_error(kind):
    with pytest.raises(DataError, match="an empty corpus"):
        train_tokenizer(kind, ["", " \t"], size=99)
