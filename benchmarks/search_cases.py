"""The searches that are measured: sentences of a setting's corpus, a beam width, a batch size; and one run's timing.

In: a setting. Out: its `SearchCase`s, files with exactly the sentences of each, and `SearchTiming`, checked against the
case. Every output is forced to the setting's number of words, so that a model after a few updates does the same work
as a trained one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import corpora
from benchmarks.corpora import write_pairs
from benchmarks.settings import Setting
from regard.errors import DataError, RegardError


@dataclass(frozen=True)
class SearchCase:
    """One way to search.

    Attributes:
        name: as tables show it.
        beam: hypotheses per sentence; 1 is greedy search.
        batch: sentences per batch.
        calls: batches; the first is warm-up.
    """

    name: str
    beam: int
    batch: int
    calls: int

    @property
    def num_sentences(self) -> int:
        """The number of sentences to translate."""
        return self.batch * self.calls

    @property
    def file_stem(self) -> str:
        """The name of the files with these sentences, without ``.source`` and ``.target``."""
        return f"first{self.num_sentences}"

    def to_json(self) -> dict[str, Any]:
        """The fields, as a subprocess takes them."""
        return asdict(self)


PER_WORD, FREQUENT = 50, 200
"""The sizes of a shortlist, as ``regard shortlist`` has them by default."""
LARGE = 1000
"""With fewer words a shortlist would save nothing."""
BEAM, GREEDY, SINGLE = "beam 5, batches of 32", "greedy, batches of 32", "beam 5, one sentence"


def search_cases(setting: Setting) -> list[SearchCase]:
    """The cases of a setting; a small model translates more sentences, so that the times are long enough to measure."""
    calls, single_calls = (8, 20) if setting.vocabulary > 1000 else (16, 60)
    return [
        SearchCase(BEAM, 5, 32, calls),
        SearchCase(GREEDY, 1, 32, calls),
        SearchCase(SINGLE, 5, 1, single_calls),
    ]


def write_cases(setting: Setting, cases: Iterable[SearchCase], folder: Path) -> None:
    """Write the setting's corpus, and for each case its sentences: ``.source``, ``.target``, ``.tsv``.

    All sources are as long as the outputs will be. So every batch is the same work, whether a toolkit sorts or pads,
    and leaving out the first batch favours none of them.

    Raises:
        DataError: the corpus has too few sentences of that length.
    """
    counts = {case.file_stem: case.num_sentences for case in cases}
    most = max(counts.values())
    corpora.write(setting.corpus, folder)
    num_lengths = setting.corpus.longest - setting.corpus.shortest + 1
    _, generated = replace(setting.corpus, valid=2 * num_lengths * most).pairs()
    pairs = [pair for pair in generated if len(pair[0].split()) == setting.output_words]
    if len(pairs) < most:
        raise DataError(
            f"{setting.name}: {len(pairs)} sources of {setting.output_words} words were generated and {most} are "
            "needed; choose a length that the corpus has"
        )
    for stem, count in counts.items():
        write_pairs(pairs[:count], folder, stem)


@dataclass(frozen=True)
class SearchTiming:
    """The result of one run.

    Attributes:
        seconds: per batch of the search, with the encoder and without reading and writing text.
        batch: sentences per batch.
        words: words per output.
        total_seconds: of the whole command, from the start of the process to its end.
        peak_bytes: peak memory of the process.
        outputs: the translations.
        reduced: whether the run translated fewer sentences than the other contenders.
    """

    seconds: Sequence[float]
    batch: int
    words: int
    total_seconds: float
    peak_bytes: int
    outputs: Sequence[str]
    reduced: bool = False

    @property
    def sentences_per_second(self) -> float:
        """Of the median batch, without the first; all batches are the same work."""
        return self.batch / median(self.seconds[1:])

    @property
    def tokens_per_second(self) -> float:
        """Output words per second."""
        return self.words * self.sentences_per_second

    @property
    def milliseconds(self) -> float:
        """Per sentence."""
        return 1000 / self.sentences_per_second

    def to_json(self) -> dict[str, Any]:
        """All that was measured, batch by batch; of the outputs the first."""
        return {
            "sentences_per_second": self.sentences_per_second,
            **asdict(self),
            "outputs": list(self.outputs[:1]),
        }


def check_work(
    measured: dict[str, Any], case: SearchCase, words: int, outputs: Sequence[str]
) -> SearchTiming:
    """The timing of a run that did exactly the work of its case.

    Args:
        measured: ``seconds``, ``total_seconds`` and ``peak_bytes``.
        case: the work.
        words: the number of words that every output must have.
        outputs: the translations.

    Raises:
        RegardError: the number of batches or outputs, or the length of an output, differs.
    """
    timing = SearchTiming(**measured, batch=case.batch, words=words, outputs=tuple(outputs))
    if len(timing.seconds) != case.calls:
        raise RegardError(
            f"{case.calls} batches of {case.batch} were expected and {len(timing.seconds)} searched; "
            "the run cannot be compared"
        )
    lengths = sorted({len(output.split()) for output in outputs})
    if len(outputs) != case.num_sentences or lengths != [words]:
        raise RegardError(
            f"{case.num_sentences} outputs of {words} words were expected; there are {len(outputs)}, of "
            f"{', '.join(map(str, lengths))} words: the run cannot be compared"
        )
    return timing
