"""The plans of the tasks that predict labels of text: one per text, or one per word.

In: texts and labels. Out: a `Plan`: the level of the text, the encoder, its dropout, batch, updates and validation.
"""

from collections.abc import Mapping
from typing import Any

from regard.tasks.plan import (
    Budget,
    Decision,
    Plan,
    TextStatistics,
    choose_form,
    choose_level,
    choose_schedule,
    count_updates,
    limit_run,
    updates_by_hand,
)

_FEW = 5_000


def plan_labels(
    text: TextStatistics,
    num_examples: int,
    num_labels: int,
    *,
    what: str,
    words_only: bool,
    given: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
) -> Plan:
    """Decide how to train a classifier or a tagger.

    The encoder, batch, learning rate and ten passes are those of the presets. Fewer than 5,000 examples have more
    dropout and at least 1,000 updates, so that small data are trained at all; these two were not tuned.

    Args:
        text: of the texts.
        num_examples: for training.
        num_labels: the number of different labels.
        what: what the examples are, in words.
        words_only: whether a label belongs to a word, so that tokens are words.
        given: options given by hand, as nested tables.
        budget: the time there is, if it is limited.
    """
    by_hand = "word" if words_only else (given or {}).get("tokenizer", {}).get("text")
    level = choose_level(text, strings=text.are_strings, given=by_hand)
    if level.kind == "bpe" and by_hand is None and not text.are_unspaced:
        level = choose_level(text, strings=False, given="word")
    reason = {"word": "a label needs the words that matter, not every word"}.get(level.kind, level.reason)
    if words_only:
        reason = "a tag belongs to a word"
    size = {} if level.size is None else {"text_size": min(level.size, 20_000)}
    few = num_examples < _FEW
    dropout = 0.5 if few else 0.3
    batch = 16 if num_examples < 1_000 else 32
    updates, why = count_updates(num_examples, batch, 10, 1_000, 20_000)
    encoder = {"cell": "lstm", "embedding_size": 128, "state_size": 128, "dropout": dropout}
    model: dict[str, Any] = {"encoder": encoder}
    if not words_only:
        model |= {"pooling": "attention", "pooling_size": 128, "dropout": dropout}
    decisions = [
        Decision("text", level.value, reason, {"tokenizer": {"text": level.kind, **size}}),
        choose_form({"text": (text, level)}),
        Decision(
            "model",
            f"BiLSTM of 128 units each way{'' if words_only else ', attention pooling'}, dropout {dropout:g}",
            "fewer than 5,000 examples" if few else "5,000 examples and more",
            {"model": model},
        ),
        Decision(
            "batch",
            f"{batch} examples, learning rate 0.002",
            "small batches for few examples" if batch < 32 else "as the preset",
            {"training": {"batch_sentences": batch, "batch_tokens": 4000, "learning_rate": 0.002}},
        ),
        *choose_schedule(
            updates,
            why,
            select="accuracy",
            selection="accuracy",
            by_hand=updates_by_hand(given, num_examples, batch),
        ),
        *limit_run(budget, updates, 8 * 128 * 256, batch * text.words_per_line),
    ]
    length = f"{text.mean_words:.1f} words"
    if text.are_unspaced:
        length = f"{text.mean_characters:.1f} characters without blanks between words,"
    data = f"{num_examples:,} {what} with {num_labels:,} labels; {length} per line"
    return Plan(data, tuple(decisions))
