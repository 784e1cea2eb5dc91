"""The benchmark of guided translators: its files, and a run at toy size."""

import lzma

import pytest

from benchmarks import guided


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("L'été, M. Côté (non).", "l' ete , m . cote ( non ) ."),
        ('He said: "50% of $3"', 'he said : " 50 % of $ 3 "'),
        ("  dont't  ", "dont' t"),
    ],
)
def test_text_is_normalised_as_the_corpus_is(line, expected):
    assert guided.normalized(line) == expected


def test_translators_with_and_without_links_are_trained_and_scored(corpus, tmp_path, monkeypatch, capsys):
    data = tmp_path / "data"
    (data / "hansards-enfr").mkdir(parents=True)
    for part in ("dev2k", "test2k"):
        for language, lines in (("en", "A b\nc\n"), ("fr", "B A\nC\n")):
            with lzma.open(data / "hansards-enfr" / f"{part}.{language}.xz", "wt") as file:
                file.write(lines)
    folder = tmp_path / "out"
    links = tmp_path / "links"
    links.write_text("0-1 1-0\n0-0\n0-1 1-0\n" * 7)
    given = ["guided", str(folder), "--corpus", str(corpus), "--data", str(data), "--links", str(links)]
    small = ("training.max_updates=2", "training.validate_every=2", "model.alignment_size=8")
    monkeypatch.setattr("sys.argv", [*given, *(word for option in small[:2] for word in ("--set", option))])
    guided.main()
    printed = capsys.readouterr().out
    assert "| translator | AER dev | AER test | BLEU test2k | minutes |" in printed
    assert "| unguided, seed 1 |" in printed
    assert "| guided, seed 1 |" in printed
    assert len((folder / "train.en").read_text().splitlines()) == 21
    assert (folder / "test2k.en").read_text() == "a b\nc\n"
    assert "alignment_size = 256" in (folder / "guided-1" / "train.toml").read_text()
    assert "alignment_size = 256" not in (folder / "unguided-1" / "train.toml").read_text()
