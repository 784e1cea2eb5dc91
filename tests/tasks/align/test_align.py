"""The aligner's task from pairs to links: trained, resumed, opened, scored, and used from the command line."""

import json
import random

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from regard.checkpoint import ModelFolder
from regard.cli.app import app
from regard.errors import ConfigError, DataError
from regard.evaluation.alignment import LinkRule
from regard.ops.attention import guided_two_way
from regard.tasks import prepare_task
from regard.tasks.align.predictor import AlignedPair, Aligner
from regard.text import SentencePair
from regard.text.word_pairs import encode_word_pairs
from regard.training.configure import configure
from regard.training.run import run_training, train

TINY = {
    "task": "align",
    "model": {
        "encoder": {"cell": "gru", "embedding_size": 16, "state_size": 8, "dropout": 0.1},
        "attention_size": 16,
        "affixes": 100,
    },
    "training": {
        "max_updates": 30,
        "learning_rate": 0.01,
        "batch_sentences": 16,
        "device": "cpu",
        "validate_every": 10,
    },
}


def cipher(count, seed):
    """Pairs whose target has the source's words under other names, two neighbours exchanged; and their links."""
    rng = random.Random(seed)
    pairs, links = [], []
    for _ in range(count):
        words = rng.sample(range(12), rng.randint(3, 6))
        order = list(range(len(words)))
        place = rng.randrange(len(words) - 1)
        order[place], order[place + 1] = order[place + 1], order[place]
        pairs.append((" ".join(f"x{k}" for k in words), " ".join(f"Y{words[j]}" for j in order)))
        links.append(frozenset((j, i) for i, j in enumerate(order)))
    return pairs, links


PAIRS, _ = cipher(200, 1)
VALID, GOLD = cipher(30, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("aligner") / "model"
    run_training(path, configure(TINY), train=PAIRS, valid=VALID)
    return path


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in VALID))
    (tmp_path / "gold").write_text(
        "".join(" ".join(f"{j}-{i}" for j, i in sorted(links)) + "\n" for links in GOLD)
    )
    return str(tmp_path / "pairs.tsv"), str(tmp_path / "gold")


def test_words_under_other_names_are_linked(folder):
    aligner = Aligner.load(folder)
    wrong = 0
    for aligned, links in zip(aligner.align(*zip(*VALID, strict=True)), GOLD, strict=True):
        wrong += len(aligned.links()["symmetrized"].links ^ links)
    assert wrong <= 3


def test_a_pair_is_aligned_alone_as_in_a_batch(folder):
    aligner = Aligner.load(folder)
    together = aligner.align(*zip(*VALID, strict=True))
    for (source, target), one in zip(VALID[:5], together, strict=False):
        (alone,) = aligner.align([source], [target])
        np.testing.assert_allclose(alone.forward, one.forward, atol=1e-6)
        np.testing.assert_allclose(alone.backward, one.backward, atol=1e-6)


def test_blank_sides_have_no_links_and_unknown_words_are_words(folder):
    aligner = Aligner.load(folder)
    blank, odd = aligner.align(["", "x1 never-seen"], ["Y1 Y2", "Y1 also-new"])
    assert blank.target == ("Y1", "Y2")
    assert not blank.links()["symmetrized"].links
    assert odd.source == ("x1", "never-seen")
    assert odd.forward.shape == (2, 2)


def test_a_stream_is_the_list(folder):
    aligner = Aligner.load(folder)
    listed = aligner.align(*zip(*VALID, strict=True))
    for one, other in zip(aligner.align_stream(iter(VALID), chunk=7), listed, strict=True):
        np.testing.assert_allclose(one.forward, other.forward, atol=1e-6)


def test_long_lines_and_unequal_sides_are_refused(folder):
    aligner = Aligner.load(folder, max_length=3)
    with pytest.raises(DataError, match=r"line 2 .* has 4 words, above the limit of 3"):
        aligner.align(["x1", "x1 x2 x3 x4"], ["Y1", "Y1"])
    with pytest.raises(DataError, match=r"target 1 .* has 4 words"):
        aligner.align(["x1"], ["Y1 Y2 Y3 Y4"])
    with pytest.raises(DataError, match="2 sources and 1 targets"):
        aligner.align(["x1", "x2"], ["Y1"])


def test_a_resumed_run_has_the_weights_of_the_unbroken_one(tmp_path):
    options = {"training": {"max_updates": 20}}
    run_training(tmp_path / "whole", configure(TINY, options), train=PAIRS, valid=VALID)
    half = {"training": {"max_updates": 20, "max_minutes": 0.0}}
    stopped = []

    def stop(event):
        if getattr(event, "validation", None) is not None and not stopped:
            stopped.append(event)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_training(tmp_path / "parts", configure(TINY, half), train=PAIRS, valid=VALID, listener=stop)
    printed = []
    run_training(
        tmp_path / "parts",
        configure(TINY, half),
        train=PAIRS,
        valid=VALID,
        resume=True,
        listener=lambda event: printed.append(str(getattr(event, "text", ""))),
    )
    assert any("resumed after update 10" in text for text in printed)
    assert not any("IBM" in text for text in printed), "what was estimated before is not estimated again"
    one, other = (ModelFolder(tmp_path / name).load("last").model.state_dict() for name in ("whole", "parts"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_validation_measures_the_error_rate_of_links_where_there_are_gold_ones(tmp_path, files):
    pairs, gold = files
    config = configure(TINY, {"data": {"train": [pairs], "valid": [pairs], "valid_links": gold}})
    task = prepare_task(config, None, None)
    torch.manual_seed(1)
    task.build()
    scores = task.validate(torch.device("cpu")).scores
    aligned = Aligner(task.model.eval(), *task.tokenizers.values()).align(*zip(*VALID, strict=True))
    found = [each.links()["symmetrized"].links for each in aligned]
    right = sum(len(links & gold) for links, gold in zip(found, GOLD, strict=True))
    total = sum(map(len, found)) + sum(map(len, GOLD))
    assert scores["aer"] == pytest.approx(1 - 2 * right / total)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"losses": {"guided": 0.0}}, "nothing says what is right"),
        ({"losses": {"translation": 1.0}}, "needs the output"),
        ({"model": {"output": True}}, "nothing else trains it"),
        ({"training": {"select": "aer"}}, "needs gold links"),
        ({"training": {"start_from": "other"}}, "leave --from out"),
        ({"data": {"valid_links": "gold"}}, "name their files with --valid"),
        ({"model": {"query": "later"}}, "foresight"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        configure(TINY, options)


@pytest.mark.parametrize(
    "options",
    [
        {"losses": {"translation": 0.5, "agreement": 1.0, "coverage": 0.1}, "model": {"output": True}},
        {"model": {"query": "previous", "affixes": 0, "distance": 0, "hmm_share": 0.0}},
        {"model": {"hmm_share": 1.0, "hmm": {"agreement": 0.0, "passes": 1}}},
    ],
)
def test_every_option_trains_and_is_opened_again(tmp_path, options):
    config = configure(TINY, options, {"training": {"max_updates": 2}})
    run_training(tmp_path / "m", config, train=PAIRS, valid=VALID, page=False)
    (aligned,) = Aligner.load(tmp_path / "m").align(["x1 x2"], ["Y1 Y2"])
    assert np.isfinite(aligned.forward).all()


def test_the_plan_trains(tmp_path):
    trained = train(
        tmp_path / "m", PAIRS, VALID, task="align", options=["training.max_updates=1"], progress=False
    )
    assert trained.report["task"] == "align"


def test_links_are_read_by_a_rule():
    forward = np.array([[0.9, 0.0], [0.3, 0.3]])
    backward = np.array([[0.9, 0.0], [0.1, 0.9]])
    pair = AlignedPair(("a", "b"), ("A", "B"), forward, backward)
    links = pair.links(LinkRule(None, "union"))
    assert links["forward"].links == {(0, 0)}, "B has more of null than of any word"
    assert links["reverse"].links == {(0, 0), (1, 1)}
    assert links["symmetrized"].links == {(0, 0), (1, 1)}
    assert pair.links(LinkRule(0.6, "probability"))["symmetrized"].links == {(0, 0)}
    again = AlignedPair.from_json(json.loads(json.dumps(pair.to_json())))
    np.testing.assert_allclose(again.forward, forward)
    with pytest.raises(DataError, match="shape"):
        AlignedPair(("a",), ("A", "B"), forward, backward)


def test_one_direction_that_is_sure_links_words_unless_another_rule_is_given():
    forward, backward = np.array([[0.95], [0.95]]), np.array([[1.0], [0.0]])
    pair = AlignedPair(("while",), ("pendant", "que"), forward, backward)
    assert pair.links()["symmetrized"].links == {(0, 0), (0, 1)}
    assert pair.links(LinkRule(None, "probability"))["symmetrized"].links == {(0, 0)}
    np.testing.assert_allclose(pair.weights, [[0.975], [0.475]])


def test_the_command_scores_both_directions_and_their_agreement(folder, files):
    pairs, gold = files
    done = CliRunner().invoke(app, ["align", str(folder), pairs, "--gold", gold, "--json"])
    assert done.exit_code == 0, done.output
    scores = json.loads(done.stdout)["scores"]
    assert list(scores) == ["forward", "reverse", "symmetrized"]
    assert scores["symmetrized"]["aer"] < 0.03
    evaluated = CliRunner().invoke(app, ["evaluate", str(folder), pairs, "--gold", gold, "--json"])
    assert evaluated.exit_code == 0, evaluated.output
    assert json.loads(evaluated.stdout)["scores"]["symmetrized"] == scores["symmetrized"]


def test_the_command_prints_links_and_draws_them(folder, files, tmp_path):
    pairs, _ = files
    given = ["align", str(folder), pairs, "--probabilities", "--heatmaps", str(tmp_path / "maps")]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert len(lines) == len(VALID)
    assert all("/0." in line or "/1.0" in line for line in lines)
    assert len(list((tmp_path / "maps").iterdir())) == len(VALID)
    as_json = CliRunner().invoke(app, ["align", str(folder), pairs, "--json"])
    assert json.loads(as_json.stdout.splitlines()[0])["source"] == VALID[0][0].split()


def test_the_command_refuses_what_an_aligner_has_already(folder, files):
    pairs, _ = files
    done = CliRunner().invoke(app, ["align", str(folder), pairs, "--reverse", str(folder)])
    assert done.exit_code != 0
    assert "both directions" in str(done.exception or done.output)
    done = CliRunner().invoke(app, ["evaluate", str(folder), pairs])
    assert done.exit_code != 0
    assert "--gold" in str(done.exception or done.output)


def test_an_aligner_guides_a_translator(folder, tmp_path):
    """Its links of the training pairs are the links of the pairs, whatever the tokens."""
    options = {
        "task": "translate",
        "data": {"aligner": str(folder)},
        "auxiliary_losses": {"guided_alignment": 0.5},
        "tokenizer": {"source": "word", "target": "word"},
        "training": {"max_updates": 1},
    }
    task = prepare_task(configure(options), PAIRS[:20], VALID)
    aligned = Aligner.load(folder).align(*zip(*PAIRS[:20], strict=True))
    assert [pair.links for pair in task.prepared.train] == [
        each.links()["symmetrized"].links for each in aligned
    ]
    with pytest.raises(ConfigError, match="that is 0"):
        configure(options, {"auxiliary_losses": {"guided_alignment": 0.0}})
    with pytest.raises(ConfigError, match="leave one of them out"):
        configure(options, {"data": {"train_links": "links"}})
    with pytest.raises(DataError, match="have features"):
        prepare_task(configure(options), [(("a", "V"), "b"), (("c", "N"), "d")] * 10, None)


def test_the_flag_guided_names_the_aligner(folder, files, tmp_path):
    pairs, _ = files
    given = ["train", str(tmp_path / "m"), "--train", pairs, "--guided", str(folder), "--updates", "1"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    written = (tmp_path / "m" / "train.toml").read_text()
    assert f'aligner = "{folder}"' in written
    assert "guided_alignment = 0.5" in written
    assert "alignment_size = 256" in written


@pytest.mark.parametrize("teacher", ["own", "agreement"])
def test_the_loss_pulls_each_direction_towards_the_links_of_its_teacher(teacher):
    losses = {"agreement": 0.5, "teacher": teacher}
    task = prepare_task(configure(TINY, {"losses": losses}), PAIRS[:20], VALID)
    torch.manual_seed(1)
    model = task.build().eval()
    batch = task.batch([0, 1, 2])
    given = model.hmm_alphas(batch)
    both = (given.forward * given.backward).sqrt() * batch.cells
    links = (both, both) if teacher == "agreement" else tuple(given)
    assert both.max() > 0.5
    assert (given.forward - given.backward).abs().max() > 0.01
    logs = model.attend(batch).log_alphas
    forward, backward = (alpha * batch.cells for alpha in logs.alphas)
    expected = guided_two_way(logs, links, batch.target_mask, batch.source_mask)
    torch.testing.assert_close(
        task.loss(task.objective(), batch, 0.0), expected + 0.5 * (forward - backward).square().sum()
    )


def test_words_are_known_in_lower_case(folder):
    aligner = Aligner.load(folder)
    (pair,) = encode_word_pairs(
        [SentencePair("X1 x2", "y1 Y2")], aligner.source_tokenizer, aligner.target_tokenizer
    )
    assert pair.source_words == ("x1", "x2")
    assert pair.target_words == ("y1", "y2")
    (lower,) = encode_word_pairs(
        [SentencePair("x1 x2", "y1 y2")], aligner.source_tokenizer, aligner.target_tokenizer
    )
    assert (pair.source_ids, pair.target_ids) == (lower.source_ids, lower.target_ids)
