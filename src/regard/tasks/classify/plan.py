"""The plan of a classifier, from labelled texts; the rules are those of `tasks.label_plan`."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.tasks.classify.config import LabelledDataConfig
from regard.tasks.classify.task import parse_labelled_texts, read_labelled_texts
from regard.tasks.label_plan import plan_labels
from regard.tasks.plan import Budget, Plan, describe_text, take_evenly


def plan_files(
    data: LabelledDataConfig,
    train: Sequence[Any] | None,
    valid: Sequence[Any] | None,
    given: Mapping[str, Any],
    budget: Budget | None = None,
) -> Plan:
    """Read the labelled texts of a run and plan it; see `TaskSpec.plan_run`."""
    num_texts = given.get("model", {}).get("num_texts", 1)
    examples = (
        parse_labelled_texts(train, num_texts)
        if train is not None
        else read_labelled_texts(data.train[0], data, num_texts)
    )
    texts = [" ".join(example.texts) for example in examples]
    return plan_labels(
        describe_text(take_evenly(texts)),
        len(examples),
        len({example.label for example in examples}),
        what="texts",
        words_only=False,
        given=given,
        budget=budget,
    )
