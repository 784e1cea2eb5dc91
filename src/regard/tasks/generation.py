"""Validation of models that generate text: teacher-forced, as they train, and free-running, as they are used.

In: batches for the one, greedy search for the other. Out: `Validation`. Knows nothing of what the text is
generated from: a source sentence, a feature vector or nothing. The difference of the two accuracies, the exposure
gap, shows what teacher forcing hides: errors that follow from earlier errors.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.evaluation import METRICS, TextMetric, edit_distance, measure_quality
from regard.evaluation.metrics import text_metrics, validation_metrics
from regard.evaluation.text import LineUnit, TextOptions
from regard.processes import ALONE, Processes, join_shares
from regard.tasks.base import MeasuredBatch, Validation, in_evaluation_mode, sequence_loss
from regard.tasks.language_model.result import perplexity
from regard.tasks.plan import take_evenly
from regard.text import Tokenizer
from regard.text.specials import SPECIALS

_MAX_LETTERS = 3
"""Of a phone symbol, without its diacritics: ARPABET's AA1 has 3, IPA's t͡sˤʼ has 2."""


_MAX_WORDS = 1.5
_MAX_CHARACTERS = 40
"""Of a string, on average: an inflected form may have two words; running text has more of both."""


def token_unit(tokenizer: Tokenizer) -> LineUnit:
    """What the tokens of a vocabulary are: characters, symbols such as phones, or words and pieces of words.

    Blank-separated tokens are symbols if none has more letters than a phone's symbol.
    """
    if tokenizer.kind == "char":
        return "characters"
    tokens = tokenizer.tokens(range(len(SPECIALS), tokenizer.size))
    is_phone = tokenizer.kind == "word" and all(_num_letters(token) <= _MAX_LETTERS for token in tokens)
    return "symbols" if is_phone else "words"


def line_unit(tokenizer: Tokenizer, lines: Sequence[str]) -> LineUnit:
    """What lines of a vocabulary consist of: as `token_unit`, but running text has words even if read by characters."""
    unit = token_unit(tokenizer)
    return "words" if unit == "characters" and not _are_strings(lines) else unit


def unit_of_lines(lines: Sequence[str]) -> LineUnit:
    """What lines consist of where no vocabulary says it: symbols such as phones, characters of a word, or words."""
    split = [line.split() for line in lines]
    is_phone = all(_num_letters(word) <= _MAX_LETTERS for words in split for word in words)
    if is_phone and any(len(words) > 1 for words in split):
        return "symbols"
    return "characters" if _are_strings(lines) else "words"


def _are_strings(lines: Sequence[str]) -> bool:
    """Whether most lines are single words and none is long: spellings, forms, dates."""
    num_lines = max(len(lines), 1)
    num_words, num_characters = (
        sum(len(line.split()) for line in lines),
        sum(len(line.strip()) for line in lines),
    )
    return num_words <= _MAX_WORDS * num_lines and num_characters <= _MAX_CHARACTERS * num_lines


def _num_letters(token: str) -> int:
    """The letters of a token, without diacritics."""
    return sum(unicodedata.category(character) not in ("Mn", "Lm", "Sk") for character in token)


def check_selection(select: str, tokenizer: Tokenizer) -> None:
    """Check that validation computes the selected metric for this target.

    Raises:
        ConfigError: the metric is for phones or characters, and the target consists of words.
    """
    metric = METRICS[select]
    of_words = text_metrics(TextOptions())
    if isinstance(metric, TextMetric) and select not in of_words and token_unit(tokenizer) == "words":
        others = " or ".join(["loss", *(key for key in validation_metrics() if key in of_words)])
        raise ConfigError(
            f"training.select = {select!r}: {metric.name} is for a target of phones or characters, and this target has "
            f'words (tokenizer {tokenizer.kind}); choose {others}, or tokenizer.target = "char"'
        )


class TargetBatch(Protocol):
    """The target side of a batch."""

    @property
    def target_ids(self) -> Tensor:
        """(B, Ty)."""
        ...

    @property
    def target_mask(self) -> Tensor:
        """(B, Ty), True where a token is predicted."""
        ...


class MeasuredGeneration(NamedTuple):
    """A process's share of a validation.

    Attributes:
        on_generated: of the sentences that are generated, too.
        on_rest: of the others.
        output: the greedy output for each.
    """

    on_generated: list[MeasuredBatch]
    on_rest: list[MeasuredBatch]
    output: list[str]


@torch.inference_mode()
def measure_generation(
    model: Any,
    *,
    batches: Callable[[Sequence[int]], Iterable[TargetBatch]],
    generate: Callable[[Sequence[int]], list[str]],
    num_examples: int,
    free_running: int,
    processes: Processes = ALONE,
) -> MeasuredGeneration:
    """Score a model in evaluation mode, and let it generate; its mode is restored afterwards.

    Every n-th batch and every n-th sentence to generate are this process's. The batches are those of one process, so
    that their losses are the same to the bit.

    Args:
        model: batch → an object with `logits` (N, V) for its N real tokens; or an ensemble.
        batches: indices of examples → batches of them, on the model's device.
        generate: indices of examples → the greedy output for each.
        num_examples: all of them.
        free_running: for how many examples, at even intervals, to generate text: a file may be in alphabetical order.
        processes: those that share the work.
    """
    examples = range(num_examples)
    generated = take_evenly(examples, free_running)
    rest = sorted({*examples}.difference(generated))

    def measure(members: Sequence[int]) -> list[MeasuredBatch]:
        own = islice(batches(members), processes.rank, None, processes.world_size)
        return [_teacher_forced(model, batch) for batch in own]

    share = processes.share(generated)
    with in_evaluation_mode(model):
        return MeasuredGeneration(
            measure(generated),
            measure(rest),
            generate(share) if share else [],
        )


def summarize_generation(
    measured: Sequence[MeasuredGeneration],
    tokenizer: Tokenizer,
    *,
    references: Sequence[str],
    reference_ids: Sequence[Sequence[int]],
    select: str = "loss",
) -> Validation:
    """The scores of a validation.

    The loss is teacher-forced, in nats per token. Free-running accuracy is 1 minus edits per reference token of the
    greedy output; the exposure gap is teacher-forced minus free-running accuracy, both over the same sentences.

    Args:
        measured: the shares of all processes, by rank.
        tokenizer: of the target.
        references: the target of every example as text.
        reference_ids: the same as ids, without special symbols.
        select: the score that selects the best checkpoint; it is always computed.
    """
    on_generated = MeasuredBatch.sum(join_shares([each.on_generated for each in measured]))
    on_rest = MeasuredBatch.sum(join_shares([each.on_rest for each in measured]))
    output = join_shares([each.output for each in measured])
    generated = take_evenly(range(len(references)), len(output))
    quality = measure_quality(
        output,
        [references[k] for k in generated],
        unit=line_unit(tokenizer, references),
        metrics=validation_metrics(),
        always=(select,),
    )
    output_ids = tokenizer.encode_batch(output)
    edits = sum(edit_distance(ids, reference_ids[k]) for ids, k in zip(output_ids, generated, strict=True))
    free_accuracy = max(0.0, 1 - edits / max(sum(len(reference_ids[k]) for k in generated), 1))
    num_tokens = on_generated.num_tokens + on_rest.num_tokens
    loss = (on_generated.loss + on_rest.loss) / num_tokens
    return Validation(
        loss,
        {
            **quality.scores,
            "perplexity": perplexity(loss),
            "token_accuracy": (on_generated.correct + on_rest.correct) / num_tokens,
            "free_running_accuracy": free_accuracy,
            "exposure_gap": on_generated.correct / on_generated.num_tokens - free_accuracy,
        },
    )


def _teacher_forced(model: Callable[[Any], Any], batch: TargetBatch) -> MeasuredBatch:
    targets = batch.target_ids[batch.target_mask]
    logits = model(batch).logits
    correct = int((logits.argmax(dim=-1) == targets).sum())
    return MeasuredBatch(float(sequence_loss(logits, targets)), correct, len(targets))
