"""How good a describer is on a test set: what it writes, and what it makes of the references.

In: a `Captioner`, features, references. Out: a `DescriptionEvaluation`, whose numbers are the printed table's and
``report.json``'s. BLEU and its like are of what it writes by itself; perplexity is of the references.

The evaluation of descriptions as files: scores for programs, what was written as text.

In: a `DescriptionEvaluation`. Out: a folder with ``report.json`` and ``descriptions.txt``.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import DataError
from regard.evaluation import Quality, measure
from regard.io import make_folder, write_whole_text
from regard.tasks.caption.predictor import Captioner, Features
from regard.tasks.caption.result import Caption
from regard.tasks.generation import target_unit
from regard.tasks.language_model.result import perplexity
from regard.tasks.translate.evaluation import write_json

_CHUNK = 256  # rows described between two signs of life


@dataclass(frozen=True)
class CaptionEvaluation:
    """All scores of one test set.

    Attributes:
        quality: of the output.
        perplexity: exp of the references' mean negative log-probability a token, end marks counted.
        descriptions: the output.
        seconds: how long describing took.
    """

    quality: Quality
    perplexity: float
    descriptions: tuple[Caption, ...]
    seconds: float

    def scores(self) -> dict[str, float | int]:
        """The headline numbers by name, in the order they are printed."""
        return {
            **self.quality.scores,
            "perplexity": self.perplexity,
            "num_sentences": self.quality.num_sentences,
            "sentences_per_second": self.quality.num_sentences / self.seconds,
        }

    def to_json(self) -> dict[str, Any]:
        """Give all scores as a JSON object."""
        return {**self.scores(), "signatures": dict(self.quality.signatures)}


def evaluate_captions(
    captioner: Captioner,
    features: Features,
    references: Sequence[str],
    *,
    beam: int = 5,
    length_power: float = 1.0,
    tokenize: str = "13a",
    lowercase: bool = False,
    listener: Callable[[Caption], None] = lambda description: None,
) -> CaptionEvaluation:
    """Describe a test set and score it.

    Args:
        captioner: what to evaluate.
        features: raw, a row for each reference.
        references: what should be written of each.
        beam: as for `Captioner.describe`.
        length_power: as for `Captioner.describe`.
        tokenize: BLEU's tokenizer; "none" for text that is tokenised already.
        lowercase: whether case is to be overlooked.
        listener: is given each description as it is made, to show how far the work is.

    Raises:
        DataError: rows and references differ in number, there are none, or the features cannot be used.
    """
    if len(features) != len(references) or not references:
        raise DataError(
            f"{len(features)} rows of features and {len(references)} references: give one of each, and at least one"
        )
    started = time.perf_counter()
    descriptions: list[Caption] = []
    for start in range(0, len(features), _CHUNK):
        found = captioner.caption(features[start : start + _CHUNK], beam=beam, length_power=length_power)
        descriptions.extend(found)
        for description in found:
            listener(description)
    seconds = time.perf_counter() - started
    output = [description.text for description in descriptions]
    read = captioner.read(features, references)
    log_probs = [value for each in read for value in each.token_log_probs]
    return CaptionEvaluation(
        measure(
            output,
            references,
            tokenize=tokenize,
            lowercase=lowercase,
            unit=target_unit(captioner.tokenizer),
        ),
        perplexity(-sum(log_probs) / len(log_probs)),
        tuple(descriptions),
        seconds,
    )


def write_caption_evaluation(
    folder: Path, evaluation: CaptionEvaluation, *, facts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write all that an evaluation of descriptions found.

    Args:
        folder: where to; made if it is not there.
        evaluation: of the test set.
        facts: more for ``report.json``, such as ``train_seconds``.

    Returns:
        What ``report.json`` says.

    Raises:
        DataError: the folder cannot be written.
    """
    make_folder(folder)
    report = {**evaluation.to_json(), **(facts or {})}
    write_json(folder, report)
    write_whole_text(folder / "descriptions.txt", "".join(f"{one.text}\n" for one in evaluation.descriptions))
    return report
