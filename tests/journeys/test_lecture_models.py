"""Every model of the lectures and every variant of a cell, trained for a few updates, saved, loaded and used."""

import pytest
import torch

import regard
from regard.layers import CELLS
from regard.ops.paths import naive_only
from regard.training.configure import PRESETS

pytestmark = pytest.mark.journey

LETTERS = ["a", "b", "c", "d", "e", "f"]
LINES = [" ".join([*LETTERS[k % 6 : k % 6 + 1 + k % 4], LETTERS[k % 5]]) for k in range(40)]
PAIRS = [(line, line.upper()) for line in LINES]
SOURCES = ["a b c", "f", "d e f a"]
LECTURES = {name: preset().get("task", "translate") for name, preset in PRESETS.items() if "lecture-" in name}
OTHER_CELLS = [name for name in CELLS if name.startswith(("lstm-", "mut"))]
TRAINING = [
    *(
        "training.max_updates=12",
        "training.validate_every=12",
        "training.warmup=2",
        "training.batch_sentences=8",
    ),
    "training.learning_rate=0.01",
]


def sizes(*parts, **options):
    """Sixteen units, and the options of each part."""
    chosen = {"embedding_size": 16, "state_size": 16, **options}
    return [f"{part}.{name}={value}" for part in parts for name, value in chosen.items()]


def train(folder, examples, preset, *options):
    run = regard.train(
        folder, examples, examples[:8], preset=preset, options=[*TRAINING, *options], progress=False
    )
    assert run.result.updates == 12
    return folder


TRANSLATORS = {name: (name, {}) for name, task in LECTURES.items() if task == "translate"}
TRANSLATORS |= {cell: ("lecture-attention", {"cell": f'"{cell}"'}) for cell in OTHER_CELLS}
TRANSLATORS |= {
    f"fixed {cell}": ("lecture-sutskever", {"cell": f'"{cell}"'}) for cell in ("lstm-peephole", "mut1")
}
TRANSLATORS |= {"no bias": ("lecture-attention", {"bias": "false"})}


@pytest.mark.parametrize("name", TRANSLATORS)
def test_a_translator(name, tmp_path):
    preset, options = TRANSLATORS[name]
    words = ['tokenizer.source="word"', 'tokenizer.target="word"']
    folder = train(tmp_path / "m", PAIRS, preset, *words, *sizes("model.encoder", "model.decoder", **options))
    translator = regard.Translator.load(folder)
    # what is searched by packed weights is what forced decoding gives the same words, alone and on the naive path
    found = translator.translate(SOURCES, beam=3, n_best=2)
    kept = [one for one in found if one.text]
    scored = translator.align([one.source for one in kept], [one.text for one in kept])
    with naive_only():
        plainly = translator.align([one.source for one in kept], [one.text for one in kept])
    for one, other, plain in zip(kept, scored, plainly, strict=True):
        assert one.log_prob == pytest.approx(other.log_prob, abs=1e-4)
        assert other.log_prob == pytest.approx(plain.log_prob, abs=1e-4)
        if translator.attends:
            assert other.alpha.sum(axis=1) == pytest.approx(1, abs=1e-5)
    # the tree is of the same search
    assert translator.tree(SOURCES[0], beam=3).translation.text == found[0].text
    # an intervention holds
    intervened = translator.what_if(SOURCES[0], beam=2, prefix="B", swap={"c": "d"})
    assert intervened.after.text.startswith("B")
    if translator.attends:
        alpha = translator.what_if(SOURCES[0], attend={0: 1}).after.alpha
        assert alpha[0, 1] == pytest.approx(1)
    # a loaded model is a whole one: trained further from its folder, in another precision it still translates
    assert len(regard.Translator.load(folder, precision="int8").translate(SOURCES)) == 3
    again = regard.train(
        tmp_path / "further", PAIRS, PAIRS[:8], start_from=folder, options=TRAINING, progress=False
    )
    assert again.result.updates == 12


READERS = {name: (name, ()) for name, task in LECTURES.items() if task == "language_model"}
READERS |= {cell: ("lecture-lstm-lm", (f'model.cell="{cell}"',)) for cell in OTHER_CELLS}


@pytest.mark.parametrize("name", READERS)
def test_a_language_model(name, tmp_path):
    preset, options = READERS[name]
    folder = train(tmp_path / "m", [(line,) for line in LINES], preset, *options, *sizes("model"))
    model = regard.LanguageModel.load(folder)
    scores = [one.log_prob for one in model.score(SOURCES)]
    with naive_only():
        assert [one.log_prob for one in model.score(SOURCES)] == pytest.approx(scores, abs=1e-4)
    assert len(model.sample(count=2, seed=3)) == 2


def test_a_classifier(tmp_path):
    examples = [(line.split()[0], line) for line in LINES]
    folder = train(tmp_path / "m", examples, "lecture-classifier", *sizes("model.encoder"))
    assert {one.label for one in regard.Classifier.load(folder).classify(SOURCES)} <= set(LETTERS)


def test_a_tagger_without_biases(tmp_path):
    """y_t = W^{yh} h_t: neither the recurrence nor the output has a bias."""
    examples = [(line.split(), line.upper().split()) for line in LINES]
    folder = train(tmp_path / "m", examples, "lecture-traditional-rnn", *sizes("model.encoder"))
    tagger = regard.Tagger.load(folder)
    names = {name.rpartition(".")[2] for name, _ in tagger.model.named_parameters()}
    assert names == {"E", "W", "U", "W_o"}
    assert not any(buffer.any() for buffer in tagger.model.buffers())
    assert [len(one.tags) for one in tagger.tag(SOURCES)] == [3, 1, 4]


def test_a_captioner(tmp_path):
    features = torch.eye(6).repeat(7, 1)[:40].numpy()
    examples = list(zip(features, LINES, strict=True))
    folder = train(
        tmp_path / "m", examples, "lecture-captioner", *sizes("model.decoder"), "model.summary_size=8"
    )
    assert len(regard.Captioner.load(folder).caption(features[:3])) == 3
