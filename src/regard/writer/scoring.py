"""What a language model makes of given lines: the log-probability of every token.

In: lines as they come. Out: a `Scored` for each, in constant memory. A line by itself starts from the begin mark and a
zero state; continuous text is one line after the other, the state carried from each to the next.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from regard.batches import Stream, in_order_of_length, pad_lines
from regard.models import LanguageModel, States
from regard.output import Scored
from regard.search import follow
from regard.text import EncodedLine, Tokenizer, encode_lines
from regard.text.specials import EOS, UNK

_SENTENCES, _TOKENS = 64, 2000  # of a batch; the logits are its tokens times the vocabulary


def score_lines(
    model: LanguageModel, tokenizer: Tokenizer, lines: Iterable[str], *, continuous: bool, chunk: int
) -> Iterator[Scored]:
    """Score lines, `chunk` of them at a time.

    Args:
        model: in evaluation mode.
        tokenizer: its own.
        lines: what to score; a blank one by itself has no score, in continuous text it is an end of a line.
        continuous: whether each line is read in the light of all before it.
        chunk: how many are read ahead.
    """
    waiting = iter(lines)
    state: States | None = None
    while part := list(encode_lines(islice(waiting, chunk), tokenizer)):
        if not continuous:
            yield from _score_each(model, tokenizer, part)
            continue
        [row] = Stream([line.ids for line in part], 1, sum(line.length for line in part))
        followed = follow(model, row.to(model.embedding.E.device), state)
        state = followed.state
        log_probs = iter(followed.log_probs.tolist())
        yield from (_one(tokenizer, line, log_probs) for line in part)


def _score_each(model: LanguageModel, tokenizer: Tokenizer, lines: Sequence[EncodedLine]) -> list[Scored]:
    scored = [Scored.blank(line.text) for line in lines]
    real = [k for k, line in enumerate(lines) if line.ids]
    for batch in in_order_of_length([lines[k].length for k in real], _SENTENCES, _TOKENS):
        chosen = [real[k] for k in batch]
        followed = follow(model, pad_lines([lines[k].ids for k in chosen]).to(model.embedding.E.device))
        log_probs = iter(followed.log_probs.tolist())
        for k in chosen:
            scored[k] = _one(tokenizer, lines[k], log_probs)
    return scored


def _one(tokenizer: Tokenizer, line: EncodedLine, log_probs: Iterator[float]) -> Scored:
    """A line's score, from the log-probabilities of it and of the lines after it."""
    tokens = tuple(tokenizer.tokens([*line.ids, EOS]))
    own = tuple(islice(log_probs, line.length))
    return Scored(line.text, tokens, own, line.num_words, line.num_characters, line.ids.count(UNK))
