"""What one run of a search came to: seconds of every batch, of the whole command, and the words it put out."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from benchmarks.demands import Demand
from regard.errors import RegardError


@dataclass(frozen=True)
class Searched:
    """One run.

    Attributes:
        seconds: of each batch's search, encoder counted, text not.
        batch: sentences of each.
        words: of each output.
        whole: seconds of the whole command, from the process's start to its end.
        peak_bytes: the most memory the process held.
        outputs: the translations.
        reduced: whether fewer were asked for than of others.
    """

    seconds: Sequence[float]
    batch: int
    words: int
    whole: float
    peak_bytes: int
    outputs: Sequence[str]
    reduced: bool = False

    @property
    def sentences_per_second(self) -> float:
        """Of the batch in the middle, the first left out: all are the same work."""
        return self.batch / median(self.seconds[1:])

    @property
    def tokens_per_second(self) -> float:
        """Words put out."""
        return self.words * self.sentences_per_second

    @property
    def milliseconds(self) -> float:
        """Of a sentence."""
        return 1000 / self.sentences_per_second

    def to_json(self) -> dict[str, Any]:
        """All that was seen, batch by batch; of the outputs the first."""
        return {
            "sentences_per_second": self.sentences_per_second,
            **asdict(self),
            "outputs": list(self.outputs[:1]),
        }


def searched(seen: dict[str, Any], demand: Demand, words: int, outputs: Sequence[str]) -> Searched:
    """A run that did the work demanded.

    Args:
        seen: ``seconds``, ``whole`` and ``peak_bytes``.
        demand: what was asked for.
        words: how many every output has to have.
        outputs: what was put out.

    Raises:
        RegardError: there were other batches, or other outputs, than were asked for.
    """
    run = Searched(**seen, batch=demand.batch, words=words, outputs=tuple(outputs))
    if len(run.seconds) != demand.calls:
        raise RegardError(
            f"{demand.calls} batches of {demand.batch} were asked for and {len(run.seconds)} searched; "
            "such a run cannot be compared"
        )
    lengths = sorted({len(output.split()) for output in outputs})
    if len(outputs) != demand.sentences or lengths != [words]:
        raise RegardError(
            f"{demand.sentences} outputs of {words} words were asked for; there are {len(outputs)}, of "
            f"{', '.join(map(str, lengths))} words: such a run cannot be compared"
        )
    return run
