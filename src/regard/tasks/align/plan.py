"""The plan of an aligner, from its sentence pairs."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.tasks.align.config import AlignedDataConfig
from regard.tasks.align.presets import aligner
from regard.tasks.plan import Budget, Decision, Plan, describe_text, take_evenly
from regard.tasks.translate.task import parse_pairs, read_corpus

_EPOCHS = 3
_LEAST_UPDATES = 600


def plan_files(
    data: AlignedDataConfig,
    train: Sequence[Any] | None,
    valid: Sequence[Any] | None,
    given: Mapping[str, Any],
    budget: Budget | None = None,
) -> Plan:
    """Read the pairs of a run and plan it; see `TaskSpec.plan_run`."""
    del valid, given
    pairs = parse_pairs(train) if train is not None else read_corpus(data.train, data.columns, known=())
    source, target = (
        describe_text(take_evenly([getattr(pair, side) for pair in pairs])) for side in ("source", "target")
    )
    preset = aligner()
    batch = preset["training"]["batch_sentences"]
    updates = max(_LEAST_UPDATES, _EPOCHS * -(-len(pairs) // batch))
    every = max(50, updates // 10)
    ends: dict[str, Any] = {"max_updates": updates, "validate_every": every}
    reason = f"{_EPOCHS} passes over the pairs, at least {_LEAST_UPDATES} updates"
    if budget is not None:
        ends["max_minutes"] = budget.minutes
        reason += f", and at most {budget.minutes:g} minutes beside the hidden Markov models"
    words = f"{source.mean_words:.1f} → {target.mean_words:.1f} words"
    size = preset["model"]["encoder"]["state_size"]
    del preset["training"]["max_epochs"]
    return Plan(
        f"{len(pairs):,} pairs to align, {words} per line",
        (
            Decision("task", "align", "by --task", {"task": "align"}),
            Decision(
                "words",
                "all there are, up to 50,000 on each side, in lower case",
                "links are of words",
                {"tokenizer": preset["tokenizer"]},
            ),
            Decision(
                "model",
                f"hidden Markov models of both directions, then two-way attention, GRU of {size} units each way",
                "both know the word that they align",
                {"model": preset["model"]},
            ),
            Decision(
                "batch",
                f"{batch} pairs of at most {preset['training']['batch_tokens']:,} words",
                f"learning rate {preset['training']['learning_rate']:g}, tuned on the Hansards",
                {"training": preset["training"]},
            ),
            Decision("updates", f"at most {updates:,}", reason, {"training": ends}),
        ),
    )
