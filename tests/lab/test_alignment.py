import pytest
import torch

from regard.datasets.microworld import Microworld
from regard.lab.alignment import AlignmentSizes, measure, untrained, verdict, write_remarks
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.tasks.translate.evaluation import evaluate
from regard.tasks.translate.predictor import Translator
from regard.text import parse_pharaoh

TOY = AlignmentSizes(train=600, test=40, longest=12, short=5, units=16, updates=6, seeds=2)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("alignment"))
    return bench, measure(bench, TOY)


@pytest.fixture(scope="module")
def held_out():
    return Microworld().splits(train=600, valid=100, test=40, seed=1, longest=12).test


def made_up(aer=5.0, diagonal=20.0, other=60.0, crossing=80.0, weight=70.0, learned=90.0):
    """Two seeds with the same numbers."""
    scores = {"precision": 0.0, "recall": 0.0, "weight": 90.0}
    run = {
        "short_exact_match": learned,
        "aligners": {
            "attention": {"aer": aer, **scores},
            "diagonal": {"aer": diagonal, **scores},
            "untrained": {"aer": other, **scores},
        },
        "kinds": {"crossing": {"words": 9, "attention": crossing, "diagonal": 10.0, "untrained": 5.0}},
        "crossing_weight": {"attention": weight, "diagonal": 17.0, "untrained": 8.0},
    }
    return [run, run]


def test_the_scores_are_those_of_evaluate_in_the_mean_over_seeds(toy, held_out):
    bench, finding = toy
    found = [
        evaluate(
            Translator.load(bench.folder / "models" / f"rnnsearch-{seed}"),
            [e.source for e in held_out],
            [e.target for e in held_out],
            [e.gold for e in held_out],
            tokenize="none",
        )
        for seed in finding.numbers["seeds"]
    ]
    assert len(found) == 2
    for k, each in enumerate(found):
        ours = finding.numbers["runs"][k]
        assert ours["aligners"]["attention"]["aer"] == pytest.approx(100 * each.alignment.aer)
        assert ours["aligners"]["attention"]["precision"] == pytest.approx(100 * each.alignment.precision)
        assert ours["aligners"]["attention"]["recall"] == pytest.approx(100 * each.alignment.recall)
        assert ours["bleu"] == pytest.approx(each.quality["bleu"])
        assert ours["exact_match"] == 100 * each.quality["exact_match"]
    mean = finding.numbers["aligners"]["attention"]["aer"]
    assert mean == pytest.approx(50 * sum(each.alignment.aer for each in found))
    assert found[0].alignment.aer != found[1].alignment.aer


def test_the_diagonals_error_rate_by_counting(toy, held_out):
    claimed = sure = hits = allowed = 0
    for example in held_out:
        Tx, Ty = len(example.source.split()), len(example.target.split())
        for i in range(Ty):
            link = (round(i * (Tx - 1) / (Ty - 1)), i)
            claimed += 1
            hits += link in example.gold.sure
            allowed += link in example.gold.possible
        sure += len(example.gold.sure)
    ours = toy[1].numbers["aligners"]["diagonal"]
    assert ours["aer"] == pytest.approx(100 * (1 - (hits + allowed) / (claimed + sure)))
    assert ours["recall"] == pytest.approx(100 * hits / sure)


def test_what_is_shown_is_in_the_numbers(toy, held_out):
    _, finding = toy
    assert [drawing.name for drawing in finding.figures] == ["sheet", "kinds"]
    by_source = {e.source: e for e in held_out}
    assert len(finding.numbers["shown"]) >= 3
    for title, shown in finding.numbers["shown"].items():
        example = by_source[shown["source"]]
        assert (shown["target"], parse_pharaoh(shown["gold"], "here")) == (example.target, example.gold)
        rows, columns = len(example.target.split()) + 1, len(example.source.split()) + 1
        assert [len(row) for row in shown["alpha"]] == [columns] * rows
        assert all(sum(row) == pytest.approx(1, abs=1e-3) for row in shown["alpha"])
        assert title in finding.figures[0].caption.lower()


def test_the_table_says_what_the_numbers_say(toy):
    (grid,) = toy[1].tables
    found = toy[1].numbers["aligners"]
    assert [row[0] for row in grid.rows] == ["attention", "the diagonal", "the untrained model"]
    for row, name in zip(grid.rows, ("attention", "diagonal", "untrained"), strict=True):
        assert row[1:] == [f"{found[name][part]:.1f}" for part in ("aer", "precision", "recall", "weight")]


def test_six_updates_teach_nothing_and_the_verdict_decides_nothing(toy):
    numbers, found = toy[1].numbers, toy[1].verdict
    assert numbers["short_exact_match"] == 0
    assert found.word == NOT_DECIDED
    assert found.to_json() == verdict(numbers["runs"]).to_json()
    assert "short sentences translated word for word is 0 %" in found.undecided[0]


def test_the_untrained_model_has_the_shape_and_none_of_the_weights(toy):
    trained = Translator.load(toy[0].folder / "models" / "rnnsearch-1")
    before = torch.get_rng_state()
    fresh = untrained(trained, 7)
    assert torch.equal(torch.get_rng_state(), before), "no one's seed is spent"
    ours, theirs = (dict(each.model.named_parameters()) for each in (fresh, trained))
    assert {name: p.shape for name, p in ours.items()} == {name: p.shape for name, p in theirs.items()}
    W = "decoder.attention.W_a"
    assert not torch.allclose(ours[W], theirs[W])
    assert torch.equal(ours[W], dict(untrained(trained, 7).model.named_parameters())[W])
    assert not torch.equal(ours[W], dict(untrained(trained, 8).model.named_parameters())[W])
    assert not fresh.model.training


def test_the_verdict_follows_from_the_numbers():
    assert verdict(made_up()).word == HELD
    assert verdict(made_up(aer=10.0)).word == HELD, "on the bound"
    assert verdict(made_up(aer=10.1)).word == IN_PART
    assert verdict(made_up(aer=10.0, other=19.0)).word == IN_PART, "the untrained model may be the better one"
    assert verdict(made_up(crossing=49.0)).word == IN_PART
    assert verdict(made_up(weight=49.0)).word == IN_PART
    assert verdict(made_up(aer=20.0, crossing=10.0, weight=20.0)).word == NOT_SEEN
    assert verdict(made_up(aer=0.0, diagonal=0.0, crossing=0.0, weight=0.0)).word == NOT_SEEN
    assert verdict(made_up(learned=49.0)).word == NOT_DECIDED, "whatever the links"
    assert "20.0 %" in verdict(made_up()).because
    assert "70 % of the attention of these words is on gold links, compared with 17 % for the diagonal" in (
        verdict(made_up()).because
    )


@pytest.mark.parametrize(
    ("words", "received", "expected"),
    [
        (0, float("nan"), ""),
        (19, 0.1, "(19 of them) gets 0.10 from all French words together, another English word 1.00, where 1 is all "
         "the attention of one French word. These are too few for a conclusion."),
        (20, 0.1, "It is skipped."),
        (20, 0.9, "It is not skipped. A possible reason: "),
    ],
)  # fmt: skip
def test_few_words_without_counterpart_allow_no_conclusion(toy, words, received, expected):
    without = {"words": words, "received": received, "received_by_others": 1.0}
    remarks = write_remarks({**toy[1].numbers, "without_counterpart": without})
    found = [remark for remark in remarks if "no counter-part" in remark]
    assert len(found) == bool(words)
    assert all(expected in remark for remark in found)


def test_small_differences_are_written_as_powers_of_ten(toy):
    numbers = toy[1].numbers
    own = {**numbers["own_output"], "sentences": 3, "furthest_from_forced": 3e-7}
    text = " ".join(write_remarks({**numbers, "own_output": own, "sum_of_a_row": 2.4e-7}))
    assert "from that of forced decoding by at most 3 × 10⁻⁷: forced" in text
    assert "no row here differs from it by more than 2 × 10⁻⁷." in text
