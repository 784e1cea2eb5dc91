"""The demos of both worlds, small: what they print, what they leave behind, and that it can be used again."""

import json
import re

import pytest

from regard.training.demos import find_demo
from regard.worlds import WORLDS

pytestmark = pytest.mark.journey

SMALL = ["--train-size", 40]
for option in (
    *("training.max_updates=3", "training.validate_every=3", "training.device=cpu"),
    *("model.encoder.embedding_size=8", "model.encoder.state_size=8"),
    *("model.decoder.embedding_size=8", "model.decoder.state_size=16", "model.decoder.readout_size=8"),
    "model.decoder.attention.size=8",
):
    SMALL += ["--set", option]


@pytest.mark.parametrize("world", WORLDS)
def test_what_a_demo_leaves_behind(regard, tmp_path, monkeypatch, world):
    monkeypatch.chdir(tmp_path)
    out = regard("demo", world, *SMALL)
    folder = tmp_path / "runs" / f"demo-{world}"
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    # the printed table: names as in report.json
    assert out.startswith("40 held-out sentences\n")
    rows = [line.split() for line in out.split("\n\n")[0].splitlines()[1:] if not re.match(r"\w+: ", line)]
    names = [row[0] for row in rows]
    assert set(names) <= set(report)
    assert {"bleu", "chrf", "exact_match", "perplexity", "train_seconds"} <= set(names)
    assert ("aer" in names) == (world == "microworld")
    assert report["num_sentences"] == report["num_train_pairs"] == report["num_valid_pairs"] == 40
    assert 0 <= report["exact_match"] <= 1
    assert report["validation"]["loss"] > 0
    # some translations, a picture, where everything is, what to try
    assert len(re.findall(r"^  [✓✗] ", out, flags=re.MULTILINE)) == 5
    assert "where it looked" in out
    assert f"report: {folder / 'report.html'}" in out
    assert (folder / "report.html").stat().st_size > 10_000
    typed = re.search(r"try: +echo (.*) \| .*regard translate (.*) --alignments", out)
    assert typed
    assert typed[2] == f"runs/demo-{world}"
    assert regard("translate", typed[2], "--alignments", stdin="a b\n").count("\t") == 1
    # the test set is beside the model, and scored again it has the same scores
    corpus = folder / "corpus"
    gold = ["--gold", corpus / "test.links"] if (corpus / "test.links").exists() else []
    again = json.loads(
        regard(
            *("evaluate", folder, corpus / "test.source", corpus / "test.target", *gold),
            *("--tokenize", find_demo(world).tokenize, "--json"),
        )
    )
    for name in again:
        if name != "sentences_per_second":
            assert again[name] == report[name], name


def test_json_and_a_second_run(regard, tmp_path):
    """What is printed as JSON is report.json; a folder that is taken is not touched."""
    printed = json.loads(regard("demo", *SMALL, "--out", tmp_path / "demo", "--json"))
    assert printed == json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    assert {"bleu", "chrf", "exact_match", "aer", "train_seconds", "long", "unseen", "validation"} <= set(
        printed
    )
    before = (tmp_path / "demo" / "best.safetensors").read_bytes()
    other = regard("demo", *SMALL, "--out", tmp_path / "demo", "--seed", 2)
    assert f"{tmp_path}/demo-2" in other
    assert (tmp_path / "demo" / "best.safetensors").read_bytes() == before
    assert (tmp_path / "demo-2" / "best.safetensors").read_bytes() != before
    page = (tmp_path / "demo-2" / "report.html").read_text(encoding="utf-8")
    assert f"regard demo --out {tmp_path}/demo --train-size 40 --seed 2 --set training.max_updates=3" in page
