"""The plan of a language model, from lines of text.

In: lines, counted. Out: a `Plan`: the level of the text, the size of the model, dropout, batch, updates, validation.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.tasks.language_model.config import TextDataConfig
from regard.tasks.language_model.task import parse_lines, read_corpus
from regard.tasks.plan import (
    Budget,
    Decision,
    Plan,
    TextStatistics,
    choose_form,
    choose_level,
    choose_schedule,
    count_updates,
    describe_text,
    limit_run,
    take_evenly,
    updates_by_hand,
)

_MANY_WORDS = 500_000


def plan_text(
    text: TextStatistics,
    num_lines: int,
    given: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
) -> Plan:
    """Decide how to train a language model.

    One LSTM with tied embeddings, as in the preset lstm-lm. On the Penn Treebank (890,000 words) 400 units with dropout
    0.5 had a validation perplexity of 114.8, 200 units with 0.3 129.5. Ten passes, but at least 1,000 updates.

    Args:
        text: of the lines.
        num_lines: for training.
        given: options given by hand, as nested tables.
        budget: the time there is, if it is limited.
    """
    level = choose_level(
        text,
        strings=text.are_strings,
        given=(given or {}).get("tokenizer", {}).get("text"),
    )
    size = {} if level.size is None else {"text_size": level.size}
    many = num_lines * text.words_per_line >= _MANY_WORDS
    units, dropout = (400, 0.5) if many else (200, 0.4)
    updates, why = count_updates(num_lines, 32, 10, 1_000, 40_000)
    longest = text.long_characters if level.kind == "char" else text.longest
    limit = min(max(100, 10 * round(0.15 * longest)), 300)
    decisions = [
        Decision("text", level.value, level.reason, {"tokenizer": {"text": level.kind, **size}}),
        choose_form({"text": (text, level)}),
        Decision(
            "length limit",
            f"{limit} tokens",
            f"99 of 100 lines have at most {longest} characters or words",
            {"data": {"max_length": limit}},
        ),
        Decision(
            "model",
            f"LSTM of {units} units, tied embeddings, dropout {dropout:g}",
            f"{_MANY_WORDS:,} words and more" if many else f"fewer than {_MANY_WORDS:,} words",
            {
                "model": {
                    "cell": "lstm",
                    "embedding_size": units,
                    "state_size": units,
                    "tie": True,
                    "dropout": dropout,
                }
            },
        ),
        Decision(
            "batch",
            "32 lines of at most 2,000 tokens, learning rate 0.002",
            "as the preset lstm-lm",
            {"training": {"batch_sentences": 32, "batch_tokens": 2000, "learning_rate": 0.002}},
        ),
        *choose_schedule(
            updates, why, select="loss", selection="the loss", by_hand=updates_by_hand(given, num_lines, 32)
        ),
        *limit_run(
            budget,
            updates,
            num_parameters=8 * units * units + units * (level.size or text.alphabet_size),
            tokens_per_update=32 * (text.mean_characters if level.kind == "char" else text.words_per_line),
        ),
    ]
    length = f"{text.mean_words:.1f} words, {text.mean_characters:.1f} characters"
    if text.are_unspaced:
        length = f"{text.mean_characters:.1f} characters without blanks between words,"
    data = f"{num_lines:,} lines of text; {length} per line"
    return Plan(data, tuple(decisions))


def plan_files(
    data: TextDataConfig,
    train: Sequence[Any] | None,
    valid: Sequence[Any] | None,
    given: Mapping[str, Any],
    budget: Budget | None = None,
) -> Plan:
    """Read the text of a run and plan it; see `TaskSpec.plan_run`."""
    lines = parse_lines(train) if train is not None else read_corpus(data.train)
    lines = [line for line in lines if line.strip()]
    return plan_text(describe_text(take_evenly(lines)), len(lines), given, budget)
