"""Sampling, scoring and reading as a user meets them: output, messages, and what is refused."""

import json
import math

import pytest

from regard.tasks.language_model.predictor import LanguageModel
from regard.training.configure import configure
from regard.training.run import run_training

LINES = ["a b c", "c b", "a a b", "b c a c"] * 10


def trained(folder, cell):
    config = {
        "task": "language_model",
        "model": {"cell": cell, "embedding_size": 6, "state_size": 6, "dropout": 0.0},
        "training": {"max_updates": 4, "max_epochs": 0.0, "device": "cpu", "batch_sentences": 16},
    }
    run_training(folder, configure(config), train=LINES, valid=LINES[:4])
    return folder


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("language_model") / "lstm", "lstm")


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("language_model") / "lstmn", "lstmn")


def test_samples(regard, language_model):
    ended = regard("sample", language_model, "-n", 4, "--seed", 3, "--max-length", 6)
    assert ended.status == 0
    expected = [
        sample.text for sample in LanguageModel.load(language_model).sample(count=4, seed=3, max_length=6)
    ]
    assert ended.out.splitlines() == expected
    as_json = regard("sample", language_model, "-n", 4, "--seed", 3, "--max-length", 6, "--json")
    assert [json.loads(line)["text"] for line in as_json.out.splitlines()] == expected


def test_watching_shows_the_same_lines_word_by_word(regard, language_model, tmp_path):
    plain = regard("sample", language_model, "--seed", 3, "--max-length", 6, "--prompt", "a zebra")
    assert "unknown to this model, read as <unk>: zebra" in plain.err
    ended = regard(
        *("sample", language_model, "--seed", 3, "--max-length", 6, "--prompt", "a zebra"),
        *("--watch", "--plot", tmp_path / "growth.png"),
    )
    *rows, whole = ended.out.splitlines()
    assert whole == plain.out.strip()
    [sample] = LanguageModel.load(language_model).sample(prompt="a zebra", seed=3, max_length=6)
    assert "sampled" in rows[0]
    assert [row.split()[1] for row in rows[1:]] == list(sample.tokens)
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_scores_one_line_for_each(regard, language_model):
    text = "a b c\n\nzebra b\n"
    ended = regard("score", language_model, stdin=text)
    assert ended.status == 0
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert [row[1] for row in rows] == ["4", "0", "3"]
    assert rows[1] == ["0.0000", "0", "nan"]
    for row, scored in zip(rows, LanguageModel.load(language_model).score(text.splitlines()), strict=True):
        assert float(row[0]) == pytest.approx(scored.log_prob, abs=1e-3)
        if scored.tokens:
            assert float(row[2]) == pytest.approx(math.exp(-scored.log_prob / len(scored.tokens)), abs=1e-3)
    assert "bits_per_character" in ended.err
    objects = [
        json.loads(line) for line in regard("score", language_model, "--json", stdin=text).out.splitlines()
    ]
    assert [one["num_tokens"] for one in objects] == [4, 0, 3]


def test_a_summary_alone(regard, language_model, tmp_path):
    (tmp_path / "one.txt").write_text("a b c\n\n")
    (tmp_path / "two.txt").write_text("c\n")
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    found = {}
    for mode, flag in (("sentences", ()), ("continuous", ("--continuous",))):
        ended = regard("score", language_model, *files, "--summary", "--json", *flag)
        found[mode] = json.loads(ended.out)
        expected = LanguageModel.load(language_model).perplexity(["a b c", "", "c"], mode=mode).to_json()
        assert found[mode] == pytest.approx(expected, rel=1e-4)
    assert (found["sentences"]["num_tokens"], found["continuous"]["num_tokens"]) == (6, 7)
    shown = regard("score", language_model, *files, "--summary")
    assert "bits_per_character" in shown.out
    assert "word_perplexity" not in shown.out, "words are its tokens"
    assert shown.err == ""


@pytest.mark.parametrize("flag", [[], ["--continuous"]])
def test_a_line_that_is_too_long_is_refused_after_those_before_it(regard, language_model, flag):
    lines = ["the cat", "", "a dog", "the cat the cat the", "a dog"]
    whole = regard("score", language_model, *flag, stdin="\n".join(lines)).out.splitlines()
    ended = regard("score", language_model, "--max-length", "4", *flag, stdin="\n".join(lines))
    assert ended.status == 2
    assert "line 4 ('the cat the cat the' …) has 5 tokens, above the limit of 4" in ended.err
    assert ended.out.splitlines() == whole[:3]
    assert regard("score", language_model, "--max-length", "5", *flag, stdin="\n".join(lines)).status == 0


def test_scores_into_a_file(regard, language_model, tmp_path):
    (tmp_path / "text").write_text("a\nb\n")
    regard("score", language_model, tmp_path / "text", "-o", tmp_path / "scores")
    assert len((tmp_path / "scores").read_text().splitlines()) == 2
    ended = regard("score", language_model, tmp_path / "text", "-o", tmp_path / "text")
    assert ended.status == 2
    assert (tmp_path / "text").read_text() == "a\nb\n"


def test_readings(regard, reader, tmp_path):
    ended = regard("read", reader, "a b c", "--plot", tmp_path / "reading.png")
    assert ended.status == 0
    rows = [line for line in ended.out.splitlines() if "[" in line]
    assert [row.split("[")[1].split("]")[0] for row in rows] == ["<s>", "a", "b", "c"]
    assert (tmp_path / "reading.png").read_bytes().startswith(b"\x89PNG")
    [one, other] = regard("read", reader, "--json", stdin="a b\nc\n").out.splitlines()
    assert json.loads(one)["tokens"] == ["<s>", "a", "b"]
    assert json.loads(other)["alpha"][0][1] == [1.0, 0.0]


REFUSED = [
    (("sample", "{language_model}", "--json", "--watch"), "--json and --watch print different things"),
    (
        ("sample", "{language_model}", "-n", "2", "--plot", "x.png"),
        "--plot x.png: one picture, and -n 2 makes 2 lines",
    ),
    (("sample", "{language_model}", "--temperature", "-1"), "temperature: -1 is out of range"),
    (("sample", "{language_model}", "-n", "0"), "count: 0 is out of range"),
    (("sample", "{language_model}/none"), "no such model folder"),
    (
        ("score", "{language_model}", "--summary", "-o", "x"),
        "--summary prints no lines, so --output would be empty",
    ),
    (("score", "{language_model}", "none.txt"), "none.txt: no such file"),
    (("score", "{reader}", "--continuous"), "train one with model.memory.span"),
    (("read", "{language_model}", "a"), "this model's cells, lstm, do not attend to their past"),
    (("read", "{reader}", "a", "b", "--plot", "x.png"), "--plot x.png: one picture, and there are 2 texts"),
    (("read", "{reader}", "a", "--layer", "4"), "layer = 4, but the reading of 'a' has 1 layers"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[" ".join(case[0]) for case in REFUSED])
def test_refusals(regard, language_model, reader, arguments, message):
    ended = regard(*(argument.format(language_model=language_model, reader=reader) for argument in arguments))
    assert ended.status == 2
    assert message in " ".join(ended.err.split())
    assert ended.out == ""


def test_a_translator_is_not_a_language_model(regard, model):
    ended = regard("sample", model)
    assert ended.status == 2
    assert "a model for translating; name one for sampling and scoring text" in " ".join(ended.err.split())


def test_nothing_to_score_has_no_perplexity(regard, language_model):
    scores = json.loads(regard("score", language_model, "--summary", "--json", stdin="\n \n").out)
    assert (scores["perplexity"], scores["bits_per_character"], scores["num_tokens"]) == (None, None, 0)
    shown = dict(
        row.split(maxsplit=1)
        for row in regard("score", language_model, "--summary", stdin="").out.splitlines()
    )
    assert shown["perplexity"].strip() == "–"


def test_a_note_counts_unknown_words(regard, language_model):
    ended = regard("score", language_model, "--summary", "--json", stdin="a neverseen b\n")
    assert json.loads(ended.out)["num_unknown"] == 1
    assert f"1 of 4 tokens (25\N{NO-BREAK SPACE}%) is unknown to {language_model}" in ended.err.replace(
        "\n", " "
    )
    assert "unknown to" not in regard("score", language_model, "--summary", "--json", stdin="a b\n").err
