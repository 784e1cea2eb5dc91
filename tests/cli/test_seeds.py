"""``regard train --seeds``: one flag, and the folder is one model for every command."""

import json
import re

import pytest

from regard.config import write_toml


@pytest.fixture
def corpus(data, tiny):
    for side in ("src", "tgt"):
        (data / f"train.{side}").write_text((data / f"test.{side}").read_text() * 5)
    (data / "tiny.toml").write_text(write_toml(tiny))
    return data


@pytest.fixture
def train(regard, corpus):
    def run(*arguments):
        files = ["--train", corpus / "train.src", "--train", corpus / "train.tgt"]
        limits = ["--config", corpus / "tiny.toml", "--updates", 4]
        return regard("train", corpus / "model", *limits, *files, *arguments)

    return run


def test_each_seed_and_mean_with_deviation_are_printed(regard, train, corpus):
    ended = train("--seeds", 2, "--valid", corpus / "test.tsv")
    assert ended.status == 0, ended.err
    assert "2 seeds" in ended.out
    assert "validation on 12 pairs" in ended.out
    assert re.split(r"  +", ended.out.splitlines()[1].strip()) == [
        "seed 1",
        "seed 2",
        "mean ± deviation",
        "ensemble",
    ]
    report = json.loads((corpus / "model" / "report.json").read_text())
    mean = report["validation"]["perplexity"]
    assert f"{mean['mean']:.2f} ± {mean['deviation']:.2f}" in ended.out
    assert (
        f"the ensemble is in {corpus}/model; report: {corpus}/model/report.html; try: echo … | "
        f"regard translate {corpus}/model\n"
    ) in ended.err
    evaluated = json.loads(
        regard("evaluate", corpus / "model", corpus / "test.tsv", "--beam", 1, "--json").out
    )
    assert report["ensemble"]["chrf"] == pytest.approx(evaluated["chrf"])
    assert report["ensemble"]["perplexity"] == pytest.approx(evaluated["perplexity"])
    again = train("--seeds", 2, "--valid", corpus / "test.tsv", "--json")
    assert json.loads(again.out) == report
    assert "seed-2: trained before, not trained again" in again.err


def test_every_command_opens_it(regard, train, corpus):
    train("--seeds", 2)
    model, source, target = corpus / "model", corpus / "test.src", corpus / "test.tgt"
    members = [model / "seed-1", model / "seed-2"]
    translated = regard("translate", model, source)
    assert translated.status == 0, translated.err
    assert translated.out == regard("translate", *members, source).out
    assert regard("align", model, source, target).status == 0
    assert regard("tree", model, "a b").status == 0
    evaluated = regard("evaluate", model, source, target, "--out", corpus / "report")
    assert evaluated.status == 0, evaluated.err
    assert "2 models" in (corpus / "report" / "report.html").read_text()
    made = regard("shortlist", model, "--train", corpus / "train.src", "--train", corpus / "train.tgt")
    assert made.status == 0, made.err
    assert regard("translate", model, source, "--shortlist").status == 0


def test_a_page_of_the_ensemble(train, corpus):
    train("--seeds", 2)
    page = (corpus / "model" / "report.html").read_text()
    assert "2 models that differ in their seeds, trained for translating on" in page
    assert '<a href="seed-2/report.html">seed-2</a>' in page
    assert "<h2>Models</h2>" in page
    assert '<table class="map"' in page, "examples with the attention of the ensemble"
    assert "--seeds 2" in page, "the command that reproduces it"


def test_the_plan_is_printed_and_kept(regard, corpus):
    rows = [f"w{k}\t{' '.join(str(k))}\n" for k in range(60)]
    (corpus / "words.tsv").write_text("".join(rows))
    command = ("train", corpus / "planned", "--train", corpus / "words.tsv", "--seeds", 1, "--updates", 1)
    ended = regard(*command)
    assert ended.status == 0, ended.err
    assert ended.err.count("plan: ") == 1
    assert (corpus / "planned" / "train.toml").read_text().startswith("# plan: ")


def test_show_lists_the_members(regard, train, corpus):
    train("--seeds", 2)
    shown = regard("show", corpus / "model")
    assert shown.status == 0, shown.err
    assert "2 models" in shown.out
    assert [line for line in shown.out.splitlines() if line.split() == ["seed-1", "seed-2", "ensemble"]]
    assert [line for line in shown.out.splitlines() if line.split() == ["update", "4", "4", "–"]]
    report = json.loads((corpus / "model" / "report.json").read_text())
    listed = json.loads(regard("show", corpus / "model", "--json").out)
    assert listed["validation"] == report["ensemble"]
    assert [each["weights"]["update"] for each in listed["ensemble"]] == [4, 4]
    assert listed["num_parameters"] == sum(each["num_parameters"] for each in listed["ensemble"])


def test_refused(regard, train, corpus):
    ended = train("--seeds", 0)
    assert ended.status == 2
    assert "--seeds" in ended.err
    train("--seeds", 2)
    averaged = regard("average", corpus / "mean", corpus / "model", corpus / "model" / "seed-1")
    assert averaged.status == 2
    assert "an ensemble of 2 models, and one model is needed here" in averaged.err
