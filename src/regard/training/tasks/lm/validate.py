"""How a language model is judged: what it makes of text it has not learnt from.

In: batches, or the windows of continuous text in order. Out: `LmValidation`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from regard.batches import LineBatch, Stream, in_order_of_length, pad_lines
from regard.models import LanguageModel, States
from regard.output import TextScore
from regard.search import follow
from regard.text import EncodedLine
from regard.training.tasks.task import Validation

_MOST_STREAMS = 10
_SHORTEST_STREAM = 1000  # tokens
_STEPS = 200  # of a window; the state is carried, so it changes nothing but memory


@dataclass(frozen=True)
class LmValidation(Validation):
    """What one validation of a language model found; the loss is in nats a token, ends of lines counted.

    Attributes:
        perplexity: exp(loss), per token: with a word tokenizer per word, unknown words counted as words.
        word_perplexity: exp(nats / (words + ends of lines)); None where tokens are words, which makes it the other.
        bits_per_character: of the validation text's characters, an end of a line counted as one.
        token_accuracy: the fraction of tokens that were the likeliest.
    """

    perplexity: float
    word_perplexity: float | None
    bits_per_character: float
    token_accuracy: float

    def to_json(self) -> dict[str, float]:
        """Give all numbers by name, those there are."""
        return {name: value for name, value in super().to_json().items() if value is not None}


def validation_stream(lines: Sequence[EncodedLine]) -> Stream:
    """Continuous text to validate with, in few streams: at most 10, of at least 1,000 tokens each.

    Each stream begins in the midst of the text with a zero state, knowing nothing of what stands before it; that is
    felt for some tens of tokens, so ten such places are too few to be seen in a perplexity, and read ten times as fast
    as one long stream. A short text is one stream.
    """
    num_tokens = sum(line.length for line in lines)
    num_streams = min(_MOST_STREAMS, max(1, num_tokens // _SHORTEST_STREAM))
    return Stream([line.ids for line in lines], num_streams, _STEPS)


def sentence_batches(
    lines: Sequence[EncodedLine], max_sentences: int, max_tokens: int
) -> Iterable[LineBatch]:
    """Single lines to validate with, those of like length together."""
    for members in in_order_of_length([line.length for line in lines], max_sentences, max_tokens):
        yield pad_lines([lines[k].ids for k in members])


def validate(
    model: LanguageModel,
    batches: Iterable[LineBatch],
    lines: Sequence[EncodedLine],
    *,
    carried: bool,
    device: torch.device,
) -> LmValidation:
    """Validate a model; it is put into evaluation mode for the while.

    Args:
        model: on the device.
        batches: all the text, from one of the above.
        lines: the same text, for its words and characters.
        carried: whether the batches are windows, the state carried from each to the next.
        device: where to compute.
    """
    was_training = model.training
    model.eval()
    nats, right, num_tokens = 0.0, 0, 0
    state: States | None = None
    for batch in batches:
        followed = follow(model, batch.to(device), state)
        state = followed.state if carried else None
        nats -= float(followed.log_probs.double().sum())
        right += int(followed.right.sum())
        num_tokens += len(followed.log_probs)
    model.train(was_training)
    score = TextScore(
        nats,
        len(lines),
        num_tokens,
        sum(line.num_words for line in lines),
        sum(line.num_characters for line in lines),
    )
    per_word = None if score.num_words == score.num_tokens else score.word_perplexity
    return LmValidation(score.loss, score.perplexity, per_word, score.bits_per_character, right / num_tokens)
