"""The benchmark of alignment: its files, its rows, and a run at toy size with peers that are scripts."""

import json
import sys

import pytest

from benchmarks import align

PAIRS = [("a b", "B A"), ("c", "C"), ("b c", "C B")] * 8


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for side, name in ((0, "src"), (1, "tgt")):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS))
    (folder / "both").write_text("".join(f"{source} ||| {target}\n" for source, target in PAIRS))
    gold = {
        "dev": {"start": 21, "count": 1, "sure": {"0": [[0, 1]]}, "possible": {"0": [[0, 1], [1, 0]]}},
        "test": {"start": 22, "count": 2, "sure": {"0": [[0, 0]], "1": [[0, 1], [1, 0]]}, "possible": {}},
    }
    (folder / "gold.json").write_text(json.dumps(gold))
    return folder


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
