import json
import re

import pytest

from regard.errors import DataError
from regard.evaluation.metrics import format_score
from regard.tasks.translate.evaluation import evaluate, report_of, write_evaluation, write_json
from regard.tasks.translate.predictor import Translator
from regard.text import GoldLinks, parse_pharaoh, train_tokenizer

SOURCES = ["a b c", "", "e", "d d d d a a"]
REFERENCES = ["c b a", "", "e & <blink>", "a a"]
GOLD = [GoldLinks(frozenset({(0, 0)}))] * 4
FACTS = {"train_seconds": 1.5, "stopped": "5 updates are done", "validation": {"loss": 0.918273}}
LOG = [
    {"event": "start", "update": 0},
    {"event": "train", "update": 1, "loss": 3.0, "learning_rate": 0.1, "seconds": 0.1},
    {"event": "train", "update": 2, "loss": 2.0, "learning_rate": 0.1, "seconds": 0.2},
    {"event": "validation", "update": 2, "loss": 2.5, "perplexity": 12.0, "bleu": 1.0},
]


@pytest.fixture
def translator(tiny_model):
    return Translator(tiny_model(), *[train_tokenizer("word", ["a b c d e"], size=9)] * 2)


@pytest.fixture
def written(translator, tmp_path):
    """An evaluation, and the folder that tells of it."""
    evaluation = evaluate(translator, SOURCES, REFERENCES, GOLD, beam=2)
    other = evaluate(translator, ["a"], ["b"], beam=1)
    page = write_evaluation(
        tmp_path / "new" / "report",
        evaluation,
        REFERENCES,
        GOLD,
        translator=translator,
        title="A <title>",
        subtitle="of four sentences",
        command="regard evaluate model 'a file'",
        facts=FACTS,
        log=LOG,
        extra={"long": other},
    )
    return evaluation, other, page


def test_report_json_has_what_is_printed(written):
    evaluation, other, page = written
    report = json.loads((page.parent / "report.json").read_text(encoding="utf-8"))
    assert report == json.loads(json.dumps(report_of(evaluation, FACTS, {"long": other})))
    assert report.items() >= evaluation.scores().items()
    assert report.items() >= FACTS.items()
    assert report["long"]["bleu"] == other.quality["bleu"]
    assert len(report["by_length"]) == len(evaluation.bands)
    assert list(report)[:3] == ["wer", "per", "exact_match"], "its words look like phones"
    assert set(report["signatures"]) == {"bleu", "chrf"}
    assert report["length_unit"] == "symbols"


def test_the_page_needs_nothing_else(written):
    evaluation, _, page = written
    assert page.name == "report.html"
    html = page.read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href|action)\s*=\s*["']?(?!#|data:)[^"'>\s]+|@import|url\(""", html)
    assert not re.findall(r"https?://(?!www\.w3\.org/)", html)
    assert "A &lt;title&gt;" in html
    assert "A <title>" not in html
    assert "of four sentences" in html
    assert "regard evaluate model &#x27;a file&#x27;" in html
    assert "&lt;blink&gt;" in html
    assert "<blink>" not in html
    assert evaluation.quality.signatures["bleu"] in html
    for fact in ("5 updates are done", "1 × gru of 2, bidirectional", "bahdanau, 1 × gru of 4", "9 (word)"):
        assert fact in html
    for band in evaluation.bands:
        row = "".join(f"<td>{format_score(name, value)}</td>" for name, value in band.scores().items())
        assert f'<th scope="row">{band.name} symbols</th>{row}' in html
    assert "0.918" not in html, "the validation is a table of its own, not one fact"


def test_translations_and_links_are_lines_too(written):
    evaluation, _, page = written
    lines = (page.parent / "translations.txt").read_text(encoding="utf-8").split("\n")
    assert lines == [*(each.text for each in evaluation.translations), ""]
    links = (page.parent / "links.txt").read_text(encoding="utf-8").splitlines()
    assert [parse_pharaoh(line, "links").sure for line in links] == [
        each.links for each in evaluation.references_aligned
    ]


def test_the_shown_sentences_are_of_every_length(translator, tmp_path, monkeypatch):
    """Twelve of many, from the shortest to the longest; gold links only where the output is the reference."""
    import regard.tasks.translate.evaluation

    reports = []
    monkeypatch.setattr(
        regard.tasks.translate.evaluation, "write_report", lambda path, report: reports.append(report)
    )
    sources = [" ".join(["a"] * (1 + k % 12)) for k in range(48)]
    evaluation = evaluate(translator, sources, ["b"] * 48, beam=1)
    references = [each.text if k % 2 else "b" for k, each in enumerate(evaluation.translations)]
    write_evaluation(
        tmp_path,
        evaluation,
        references,
        GOLD * 12,
        translator=translator,
        title="",
        subtitle="",
        command="",
    )
    shown = reports[0].shown
    assert [len(each.source.split()) for each in shown] == list(range(1, 13))
    assert any(each.gold for each in shown)
    for each in shown:
        assert (each.gold is not None) == (each.translation.text == each.reference)


def test_a_report_that_cannot_be_written(tmp_path, written, translator):
    evaluation, _, _ = written
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"file: cannot be made .*choose another folder"):
        write_evaluation(
            tmp_path / "file",
            evaluation,
            REFERENCES,
            GOLD,
            translator=translator,
            title="",
            subtitle="",
            command="",
        )
    with pytest.raises(DataError, match=r"none/report.json: cannot be written"):
        write_json(tmp_path / "none", {})
