"""The experiment on energies: learning rates, means over seeds, what differs, times in turn, and its verdict."""

import pytest
import torch

from regard.datasets.microworld import Microworld
from regard.lab.energies import (
    ATTENTIONS,
    NONE,
    SIMILARITIES,
    WINDOWS,
    EnergiesSizes,
    frequent_word_splits,
    make_update,
    measure,
    most_crossing,
    time_in_turn,
    time_ratios,
    verdict,
    write_remarks,
)
from regard.lab.runner import Bench
from regard.lab.runner.experiment import HELD, IN_PART, NOT_DECIDED, NOT_SEEN
from regard.layers import ENERGIES
from regard.tasks.translate.evaluation import evaluate
from regard.tasks.translate.predictor import Translator
from regard.text import SentencePair

TOY = EnergiesSizes(
    drawn=1500,
    words=150,
    longest=7,
    test=12,
    units=8,
    window_size=2,
    updates=3,
    rates=(0.003, 0.03),
    tuning_seed=9,
    seeds=2,
    rounds=2,
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("energies"))
    return bench, measure(bench, TOY)


@pytest.fixture(scope="module")
def held_out():
    return frequent_word_splits(1500, 120, 150, 1, longest=7).test[:12]


def scores_of(folder, pairs):
    return evaluate(
        Translator.load(folder),
        [e.source for e in pairs],
        [e.target for e in pairs],
        [e.gold for e in pairs],
        beam=1,
        tokenize="none",
    )


def made_up(diagonal=20.0, without=80.0, **changed):
    """Numbers of two seeds that are the same."""

    def spread(value):
        return {"mean": value, "values": [value, value]}

    kinds = {name: {"bleu": spread(90.0), "aer": spread(8.0)} for name in ATTENTIONS}
    for name, (bleu, aer) in changed.items():
        kinds[name.replace("_", " ")] = {"bleu": spread(bleu), "aer": spread(aer)}
    return {"seeds": [1, 2], "diagonal_aer": diagonal, "kinds": {**kinds, NONE: {"bleu": spread(without)}}}


def models(bench, name, seed=1):
    """The folders of a kind, by rate."""
    found = (bench.folder / "models").glob(f"{name.replace(' ', '-')}-{seed}-*")
    return {float(path.name.rsplit("-", 1)[1]): path for path in found}


def test_each_has_the_best_rate_of_a_seed_that_does_not_decide(toy):
    bench, finding = toy
    for name in (*SIMILARITIES, NONE):
        losses = {
            learning_rate: Translator.load(folder).facts["loss"]
            for learning_rate, folder in models(bench, name, seed=9).items()
        }
        assert set(losses) == set(TOY.rates)
        assert finding.numbers["rates"][name] == min(losses, key=losses.__getitem__)
        assert finding.numbers["losses_by_rate"][name] == {
            f"{learning_rate:g}": loss for learning_rate, loss in losses.items()
        }
        for seed in (1, 2):
            assert set(models(bench, name, seed)) == {finding.numbers["rates"][name]}
    for name in WINDOWS:
        assert finding.numbers["rates"][name] == finding.numbers["rates"]["general"]
        assert not models(bench, name, seed=2)


def test_means_are_over_the_models_of_all_seeds(toy, held_out):
    bench, finding = toy
    for name in ("scaled dot", NONE):
        learning_rate = finding.numbers["rates"][name]
        found = [scores_of(models(bench, name, seed)[learning_rate], held_out) for seed in (1, 2)]
        ours = finding.numbers["kinds"][name]
        assert ours["bleu"]["values"] == pytest.approx([each.quality["bleu"] for each in found])
        assert ours["exact_match"]["mean"] == pytest.approx(50 * sum(e.quality["exact_match"] for e in found))
        if name == NONE:
            assert "aer" not in ours
        else:
            assert ours["aer"]["values"] == pytest.approx([100 * each.alignment.aer for each in found])
    assert finding.numbers["seeds"] == [1, 2]
    assert finding.verdict.word == NOT_DECIDED, "three updates train nothing"


def test_only_the_attention_differs(toy):
    bench, finding = toy
    loaded = {
        name: Translator.load(models(bench, name)[finding.numbers["rates"][name]]).model
        for name in ATTENTIONS
    }
    others = {
        name: {
            key: tuple(p.shape)
            for key, p in model.named_parameters()
            if not key.startswith("decoder.attention.")
        }
        for name, model in loaded.items()
    }
    assert all(others[name] == others["dot"] for name in ATTENTIONS)
    kinds = {name: type(model.decoder.attention).__name__ for name, model in loaded.items()}
    assert kinds == {
        "dot": "Dot",
        "scaled dot": "ScaledDot",
        "general": "Bilinear",
        "additive": "Additive",
        "concat": "Concat",
        "local-m": "Bilinear",
        "local-p": "Bilinear",
    }
    windows = {name: type(model.decoder.attention.window).__name__ for name, model in loaded.items()}
    assert [windows[name] for name in ("local-m", "local-p")] == ["LocalM", "LocalP"]
    assert all(windows[name] == "NoneType" for name in SIMILARITIES)


def test_time_is_a_ratio_to_dot(toy):
    numbers = toy[1].numbers
    assert numbers["time"]["dot"] == 1
    assert set(numbers["time"]) == {*ATTENTIONS, NONE}
    for seconds in numbers["seconds_an_update"].values():
        assert len(seconds) == TOY.rounds
        assert min(seconds) > 0


def test_what_is_drawn_is_in_the_numbers(toy, held_out):
    finding = toy[1]
    shown, pair = finding.numbers["shown"], held_out[most_crossing(held_out)]
    assert (shown["source"], shown["target"]) == (pair.source, pair.target)
    assert set(shown["alpha"]) == set(ATTENTIONS)
    rows, columns = len(pair.target.split()) + 1, len(pair.source.split()) + 1
    for name, alpha in shown["alpha"].items():
        assert [len(row) for row in alpha] == [columns] * rows
        total = [sum(row) for row in alpha]
        if name == "local-p":
            assert max(total) <= 1.001, "weighed by nearness, and not normalised again"
        else:
            assert total == pytest.approx([1] * rows, abs=1e-3)
    far = [
        shown["alpha"]["local-m"][i][j]
        for i in range(rows)
        for j in range(columns)
        if abs(i - j) > 2 and i < columns
    ]
    assert far, "the window leaves something out"
    assert max(far) == 0
    assert [drawing.name for drawing in finding.figures] == ["scores", "sheet"]


def test_the_table_says_what_the_numbers_say(toy):
    finding = toy[1]
    (grid,) = finding.tables
    rows = {row[0]: dict(zip(grid.columns, row, strict=True)) for row in grid.rows}
    assert list(rows) == [*ATTENTIONS, NONE]
    aer = finding.numbers["kinds"]["general"]["aer"]
    assert rows["general"]["AER"] == f"{aer['mean']:.1f} ± {aer['interval'][1] - aer['mean']:.1f}"
    assert "±" not in rows["local-m"]["AER"], "of one seed"
    assert rows[NONE]["AER"] == "–"
    assert rows["dot"]["time"] == "1.00"


def test_concat_is_additive_with_its_matrices_side_by_side():
    """What the remark says, and why the two tell how much chance there is."""
    generator = torch.Generator().manual_seed(1)
    additive, concat = ENERGIES["additive"](6, 4, 5), ENERGIES["concat"](6, 4, 5)
    with torch.no_grad():
        concat.W_a.copy_(torch.cat([additive.W_a, additive.U_a], dim=1))
        concat.v_a.copy_(additive.v_a)
    query, annotations = torch.randn(2, 3, 6, generator=generator), torch.randn(2, 7, 4, generator=generator)
    ours = additive.energies(query, additive.keys(annotations))
    torch.testing.assert_close(concat.energies(query, concat.keys(annotations)), ours)


def test_an_update_is_adams_on_the_batch_of_its_number(toy, held_out):
    folder = models(toy[0], "general", seed=9)[TOY.rates[0]]
    pairs = [SentencePair(e.source, e.target) for e in held_out] * 6  # one batch of 64, one of 8
    update = make_update(folder, pairs)
    objective = update.__closure__[update.__code__.co_freevars.index("objective")].cell_contents
    model = objective.model
    before = model.decoder.attention.W_a.detach().clone()
    update(1)
    first = model.decoder.attention.W_a.detach().clone()
    assert (first - before).abs().max() == pytest.approx(1e-5, rel=0.05), "Adam's first step is the rate"
    again = make_update(folder, pairs[64:])
    other = again.__closure__[again.__code__.co_freevars.index("objective")].cell_contents.model
    again(0)
    torch.testing.assert_close(other.decoder.attention.W_a, first, rtol=0, atol=0)
    loaded = Translator.load(folder).model.decoder.attention.W_a
    assert torch.equal(loaded, before), "the folder stays as it is"


def test_differences_have_a_typographic_minus():
    numbers = {
        **made_up(general=(88.0, 8.0), concat=(93.0, 8.0)),
        "time": dict.fromkeys(ATTENTIONS, 1.0),
        "window_size": 3,
    }
    luong, chance, *_ = write_remarks(numbers)
    assert "general minus dot is −2.0 BLEU, and concat minus the best of the others +3.0." in luong
    assert "3.0 BLEU apart: with 2 seeds, smaller" in chance


def test_the_verdict_follows_from_the_numbers():
    assert verdict(made_up()).word == HELD
    assert verdict(made_up(concat=(81.0, 10.0))).word == HELD, "on the bounds"
    assert verdict(made_up(concat=(80.9, 8.0))).word == IN_PART
    assert verdict(made_up(scaled_dot=(90.0, 10.1))).word == IN_PART
    assert verdict(made_up(without=90.1)).word == IN_PART
    assert verdict(made_up(dot=(70.0, 30.0))).word == NOT_SEEN
    assert verdict(made_up(**{"local-p": (0.0, 99.0)})).word == HELD, "the windows do not decide"
    nothing = {name.replace(" ", "_"): (0.0, 90.0) for name in SIMILARITIES}
    assert verdict(made_up(without=0.0, **nothing)).word == NOT_DECIDED, "nothing was learned"
    assert "concat with 81.0" in verdict(made_up(concat=(81.0, 10.0))).because


class Clock:
    """A clock that is advanced by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_every_function_runs_once_per_round_and_none_is_always_first():
    done = []
    seconds = time_in_turn({n: lambda k, n=n: done.append((n, k)) for n in "abc"}, 4, warmup=2)
    assert {name: len(own) for name, own in seconds.items()} == {"a": 4, "b": 4, "c": 4}
    rounds = [done[start : start + 3] for start in range(0, len(done), 3)]
    assert len(rounds) == 2 + 4
    assert [[k for _, k in each] for each in rounds] == [[2] * 3, [3] * 3, [0] * 3, [1] * 3, [2] * 3, [3] * 3]
    assert [each[0][0] for each in rounds[2:]] == ["a", "b", "c", "a"]
    assert all({name for name, _ in each} == set("abc") for each in rounds)


def test_noise_of_a_round_cancels_in_the_ratio():
    clock = Clock()
    slowness = [1.0, 50.0, 1.0, 9.0, 2.0]

    def function(cost):
        def work(k):
            clock.now += cost * slowness[k]

        return work

    seconds = time_in_turn({"dot": function(2.0), "twice": function(4.0)}, 5, clock=clock)
    assert seconds["dot"] == pytest.approx([2.0, 100.0, 2.0, 18.0, 4.0])
    assert time_ratios(seconds, "dot") == pytest.approx({"dot": 1, "twice": 2})


def test_a_single_slow_round_does_not_count():
    seconds = {"dot": [1.0, 1.0, 1.0], "other": [1.5, 1.5, 90.0]}
    assert time_ratios(seconds, "dot") == {"dot": 1, "other": 1.5}


def test_pairs_of_frequent_words_are_kept():
    splits = frequent_word_splits(1000, 100, 120, seed=3, longest=8)
    sampled = Microworld().splits(train=1000, valid=100, test=100, seed=3, longest=8)
    words = [word for example in sampled.train for word in example.source.split()]
    ranked = sorted(
        dict.fromkeys(words), key=words.count, reverse=True
    )  # of equals the first seen comes first
    frequent = set(ranked[:120])
    for kept, every in (
        (splits.train, sampled.train),
        (splits.valid, sampled.valid),
        (splits.test, sampled.test),
    ):
        assert kept == [example for example in every if set(example.source.split()) <= frequent]
        assert 0 < len(kept) < len(every)
    assert splits.extra == {}
