"""What is searched for: sentences of a setting's corpus, with so wide a beam, so many at a time.

In: a setting. Out: its `Demand`s, and files of exactly the sentences each asks for. Every output is forced to the
setting's number of words, so that a model that has hardly learnt does the same work as one that has.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import corpora
from benchmarks.corpora import write_part
from benchmarks.settings import Setting
from regard.errors import DataError


@dataclass(frozen=True)
class Demand:
    """One way to search.

    Attributes:
        name: as tables show it.
        beam: hypotheses a sentence; 1 is greedy search.
        batch: sentences searched at a time.
        calls: batches; the first warms up.
    """

    name: str
    beam: int
    batch: int
    calls: int

    @property
    def sentences(self) -> int:
        """How many there are to translate."""
        return self.batch * self.calls

    @property
    def part(self) -> str:
        """The name of their files, less ``.source`` and ``.target``."""
        return f"first{self.sentences}"

    def to_json(self) -> dict[str, Any]:
        """As a process of its own takes it."""
        return asdict(self)


BEAM, GREEDY, ONE = "beam 5, batches of 32", "greedy, batches of 32", "beam 5, one sentence"


def demands(setting: Setting) -> list[Demand]:
    """What is asked of everyone; a small model is asked for more, so that a measurement is no blink."""
    calls, alone = (8, 20) if setting.vocabulary > 1000 else (16, 60)
    return [Demand(BEAM, 5, 32, calls), Demand(GREEDY, 1, 32, calls), Demand(ONE, 5, 1, alone)]


def write(setting: Setting, wanted: Iterable[Demand], folder: Path) -> None:
    """Write the setting's corpus, and for each demand its part: ``PART.source``, ``.target``, ``.tsv``.

    All sources are as long as the outputs will be. So a batch is as much work as another, whoever sorts or pads, and
    leaving out the first is nobody's gain.

    Raises:
        DataError: the corpus has too few sentences of that length.
    """
    parts = {demand.part: demand.sentences for demand in wanted}
    most = max(parts.values())
    corpora.write(setting.corpus, folder)
    spread = setting.corpus.longest - setting.corpus.shortest + 1
    _, drawn = replace(setting.corpus, valid=2 * spread * most).pairs()
    pairs = [pair for pair in drawn if len(pair[0].split()) == setting.output_words]
    if len(pairs) < most:
        raise DataError(
            f"{setting.name}: {len(pairs)} sources of {setting.output_words} words were drawn and {most} are needed; "
            "choose a length that the corpus has"
        )
    for part, sentences in parts.items():
        write_part(pairs[:sentences], folder, part)
