import math

import pytest
import torch

from regard.batches import pad_pairs
from regard.evaluation import measure_quality
from regard.evaluation.metrics import validation_metrics
from regard.processes import Processes
from regard.tasks.generation import summarize_generation
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.task import measure_translator


@pytest.fixture
def translator(small_model, prepared):
    model = small_model(model={"encoder": {"dropout": 0.5}, "decoder": {"dropout": 0.5}}).train()
    return Translator(model, prepared.tokenizers["source"], prepared.tokenizers["target"])


def validated(translator, prepared, world_size=1, **options):
    """The scores, from the shares of several processes."""
    options = {"free_running": 100, "batch_sentences": 4, "batch_tokens": 1000, **options}
    pairs, encoded = prepared.valid_pairs, prepared.valid
    measured = [
        measure_translator(translator, pairs, encoded, processes=Processes(rank, world_size), **options)
        for rank in range(world_size)
    ]
    return summarize_generation(
        measured,
        translator.target_tokenizer,
        references=[pair.target for pair in pairs],
        reference_ids=[pair.target_ids for pair in encoded],
    )


@pytest.mark.parametrize("world_size", [2, 3, 50])
def test_several_processes_validate_as_one(translator, prepared, world_size):
    """The same batches, whose sums are added in the same order: the same bits."""
    options = {"free_running": 7, "batch_tokens": 20}
    assert validated(translator, prepared, world_size, **options) == validated(
        translator, prepared, **options
    )


def edits(one, other):
    """The textbook table."""
    table = [[max(i, j) for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1,
                table[i][j - 1] + 1,
                table[i - 1][j - 1] + (one[i - 1] != other[j - 1]),
            )
    return table[-1][-1]


def test_teacher_forced_numbers_against_the_model_itself(translator, prepared):
    """One pair at a time, without dropout and without smoothing."""
    found = validated(translator, prepared)
    model = translator.model.eval()
    nats = right = tokens = 0
    with torch.no_grad():
        for pair in prepared.valid:
            batch = pad_pairs([pair])
            log_probs = model(batch).logits.log_softmax(-1)
            targets = batch.target_ids[0]
            nats -= float(log_probs[torch.arange(len(targets)), targets].sum())
            right += int((log_probs.argmax(-1) == targets).sum())
            tokens += len(targets)
    assert tokens == sum(len(pair.target_ids) + 1 for pair in prepared.valid)
    assert found.loss == pytest.approx(nats / tokens, rel=1e-5)
    assert found.scores["perplexity"] == pytest.approx(math.exp(nats / tokens), rel=1e-5)
    assert found.scores["token_accuracy"] == pytest.approx(right / tokens)


def test_free_running_numbers_against_greedy_search(translator, prepared):
    """Of six examples, from all of the file: one in alphabetical order has its own kind of word at the beginning."""
    found = validated(translator, prepared, free_running=6)
    translator.model.eval()
    every = len(prepared.valid_pairs) / 6
    pairs = [prepared.valid_pairs[int(k * every)] for k in range(6)]
    output = [each.text for each in translator.translate([pair.source for pair in pairs], beam=1)]
    references = [pair.target for pair in pairs]
    wrong = sum(edits(one.split(), other.split()) for one, other in zip(output, references, strict=True))
    words = sum(len(line.split()) for line in references)
    assert found.scores["free_running_accuracy"] == pytest.approx(max(0, 1 - wrong / words))
    quality = measure_quality(output, references, metrics=validation_metrics())
    assert (found.scores["bleu"], found.scores["chrf"], found.scores["exact_match"]) == (
        quality["bleu"],
        quality["chrf"],
        quality["exact_match"],
    )


def test_the_gap_is_the_difference(translator, prepared):
    found = validated(translator, prepared)
    assert (
        found.scores["exposure_gap"] == found.scores["token_accuracy"] - found.scores["free_running_accuracy"]
    )


def test_a_perfect_model_has_no_gap(translator, prepared, monkeypatch):
    """Free running on the references themselves: accuracy 1, whatever the model is."""
    texts = {pair.source: pair.target for pair in prepared.valid_pairs}
    real = translator.translate(list(texts), beam=1)

    def perfect(sources, *, beam):
        assert beam == 1
        return [type("Said", (), {"text": texts[source]}) for source in sources]

    assert real
    monkeypatch.setattr(translator, "translate", perfect)
    found = validated(translator, prepared)
    assert (found.scores["free_running_accuracy"], found.scores["exact_match"]) == (1.0, 1.0)
    assert found.scores["bleu"] == pytest.approx(100)


@pytest.mark.parametrize("training", [True, False])
def test_the_model_goes_on_as_it_was(translator, prepared, training):
    translator.model.train(training)
    validated(translator, prepared)
    assert translator.model.training is training


def test_batches_change_nothing(translator, prepared):
    one = validated(translator, prepared)
    other = validated(translator, prepared, batch_sentences=100, batch_tokens=20)
    # float32 sums in another order
    assert other.loss == pytest.approx(one.loss, rel=1e-5)
    for name in ("token_accuracy", "exact_match"):
        assert other.scores[name] == one.scores[name]


def test_every_number_by_name(translator, prepared):
    assert set(validated(translator, prepared).to_json()) == {
        *("loss", "perplexity", "token_accuracy", "free_running_accuracy", "exposure_gap"),
        *("bleu", "chrf", "exact_match", "wer", "per"),
    }
