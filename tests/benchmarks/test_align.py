"""The benchmark of alignment: its files, its rows, and a run at toy size with peers that are scripts."""

import sys

import pytest

from benchmarks import align
from regard.config import set_option
from regard.training.configure import configure


def test_parts_have_their_lines_and_links(corpus, tmp_path):
    dev, test = align.write_parts(corpus, tmp_path / "out")
    assert dev.pairs.read_text() == "a b\tB A\n"
    assert dev.gold.read_text() == "0-1 1?0\n"
    assert test.pairs.read_text() == "c\tC\nb c\tC B\n"
    assert test.gold.read_text() == "0-0\n0-1 1-0\n"


def test_peers_and_a_trained_aligner_are_scored_alike(corpus, tmp_path, monkeypatch, capsys):
    binaries = tmp_path / "peers" / "bin"
    binaries.mkdir(parents=True)
    links = ["0-1 1-0", "0-0", "0-1 1-0"] * 8
    eflomal = binaries / "eflomal-align"
    eflomal.write_text(
        f"#!{sys.executable}\nimport sys\nfor flag in ('-f', '-r'):\n"
        f"    open(sys.argv[sys.argv.index(flag) + 1], 'w').write({chr(10).join(links)!r} + chr(10))\n"
    )
    fast = binaries / "python"
    fast.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'w').write('0-0\\n' * 24)\n")
    for script in (eflomal, fast):
        script.chmod(0o755)
    options = ["--set", "training.max_updates=2", "--set", "training.validate_every=2"]
    folder = str(tmp_path / "out")
    given = ["align", folder, "--corpus", str(corpus), "--peers", str(tmp_path / "peers"), *options]
    monkeypatch.setattr("sys.argv", given)
    align.main()
    printed = capsys.readouterr().out
    assert "| eflomal | test | 0.00 | 0.00 | 0.00 | 100.0 |" in printed
    assert "| fast_align | test | – | – | 60.00 | 40.0 |" in printed
    assert "| Regard, seed 1 | test |" in printed


def test_a_missing_corpus_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["align", str(tmp_path / "out"), "--corpus", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"no gold\.json"):
        align.main()


def test_a_shorter_corpus_keeps_the_pairs_with_gold_links(corpus, tmp_path):
    parts = align.write_parts(corpus, tmp_path / "out")
    made = align.shorten(corpus, tmp_path / "out", 2, parts)
    assert (made / "src").read_text() == "a b\nc\na b\nc\nb c\n"
    assert (made / "tgt").read_text() == "B A\nC\nB A\nC\nC B\n"


def test_ideas_have_a_mean_of_their_seeds_and_rules_a_row_each(corpus, tmp_path, monkeypatch, capsys):
    few = {name: align.IDEAS[name] for name in ("all of them", "no affixes")}
    monkeypatch.setattr(align, "IDEAS", few)
    monkeypatch.setattr(align, "RULES", ("mean", "union"))
    errors = {"all-of-them-1": 0.1, "all-of-them-2": 0.3, "no-affixes-1": 0.5, "no-affixes-2": 0.5}
    trained = []

    def train(corpus, model, parts, seed, options, threads):
        trained.append((model.name, tuple(options)))
        return 0.0

    def score(aligned, part, *options):
        name = aligned[0].rpartition("/")[2]
        return {"forward": {"aer": 1.0}, "mean": {"aer": errors[name] + ("union" in options)}}

    monkeypatch.setattr(align, "train_aligner", train)
    monkeypatch.setattr(align, "score", score)
    folder = str(tmp_path / "out")
    given = ["align", folder, "--corpus", str(corpus), "--ideas", "--seeds", "2", "--pairs", "2"]
    monkeypatch.setattr("sys.argv", [*given, "--set", "training.max_updates=2"])
    align.main()
    printed = capsys.readouterr().out
    assert "| all of them | 20.00 ± 14.14 | 20.00 ± 14.14 |" in printed
    assert "| no affixes | 50.00 ± 0.00 | 50.00 ± 0.00 |" in printed
    assert "| links by mean | 20.00 ± 14.14 |" in printed
    assert "| links by union | 120.00 ± 14.14 |" in printed
    assert ("no-affixes-2", ("training.max_updates=2", "model.affixes=0")) in trained


def test_every_idea_is_a_configuration():
    for options in align.IDEAS.values():
        layer: dict[str, object] = {}
        for option in options:
            set_option(layer, option)
        assert configure(layer, preset="aligner").task == "align"
