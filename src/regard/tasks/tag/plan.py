"""The plan of a tagger, from tagged sentences; the rules are those of `tasks.label_plan`."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.tasks.label_plan import plan_labels
from regard.tasks.plan import Budget, Plan, describe_text, take_evenly
from regard.tasks.tag.config import TaggedDataConfig
from regard.tasks.tag.task import parse_tagged_sentences, read_tagged_sentences


def plan_files(
    data: TaggedDataConfig,
    train: Sequence[Any] | None,
    valid: Sequence[Any] | None,
    given: Mapping[str, Any],
    budget: Budget | None = None,
) -> Plan:
    """Read the tagged sentences of a run and plan it; see `TaskSpec.plan_run`."""
    examples = (
        parse_tagged_sentences(train)
        if train is not None
        else read_tagged_sentences(data.train, data.layout, data.columns)
    )
    return plan_labels(
        describe_text(take_evenly([" ".join(example.words) for example in examples])),
        len(examples),
        len({tag for example in examples for tag in example.tags}),
        what="sentences",
        words_only=True,
        given=given,
        budget=budget,
    )
