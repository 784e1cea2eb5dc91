"""The studio's own operations, which look into a run's folder: its data, searched, and its newest weights, tried out.

They are routes of the studio and not of the service, for what they answer with is the data of a training. A body names
a model and never a file.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

from pydantic import Field

from regard.checkpoint import ModelFolder
from regard.errors import RegardError
from regard.server.batching import Watch
from regard.server.config import Limits
from regard.server.operations import operations_of
from regard.server.operations.operation import (
    Body,
    Operation,
    PreparedBody,
    Strict,
    Text,
    refuse_above,
    refuse_large,
)
from regard.studio.corpus import Corpus, Example, Place, read_examples
from regard.tasks import TASKS

_SECONDS = 0.25  # that one request reads on
_MOST_UNITS = 16_384
_GREATEST = 1e6  # of a state
_MOST_POINTS = 500
_MOST_FOUND = 50
_NUM_EXAMPLES = 6

_corpora: "WeakKeyDictionary[Any, dict[int | None, Corpus]]" = WeakKeyDictionary()


def _corpus(predictor: Any, member: int | None) -> Corpus:
    """The sample of a model, which is kept as long as the model is, after reading on in it."""
    known = _corpora.setdefault(predictor, {})
    if member not in known:
        predictor.single_model(member)  # an error unless it is there
        known[member] = Corpus(predictor, member)
    known[member].read_on(_SECONDS)
    return known[member]


class CorpusBody(Body):
    """What to search in a model's sentences."""

    member: int | None = Field(None, ge=0, description="Of an ensemble, whose states, counted from 0.")
    section: Text = Field(description="Of the trace, as `decoder`.")
    part: Text = Field(description="Of the section, as `state`.")
    text: Text = Field("", description="A sentence that is left out of the answer.")


class CorpusAnswer(Strict):
    """How much was searched: ask again until `read` is `total`."""

    read: int
    total: int
    label: str = Field(description="What the sentences are: training or validation; empty without any.")
    problem: str = Field(description="Why there are none; empty if there are some.")


class FoundAnswer(Strict):
    """A place in a sentence."""

    text: str = Field(description="What the model reads.")
    words: list[str] = Field(description="The steps of the section.")
    first: int
    last: int
    value: float = Field(description="The share of units in common, or the cosine.")
    active: list[int] = Field([], description="How many of the units are on at each step.")


class _Searched(NamedTuple):
    corpus: Corpus
    found: dict[str, Any]


class CorpusOperation(Operation[Any]):
    """Search a model's sentences."""

    def suits(self, task: str) -> bool:
        """Every task whose models can be traced, and whose examples can be read from files."""
        return "trace" in TASKS[task].operations and bool(TASKS[task].preparation)

    def prepare(self, body: CorpusBody, limits: Limits) -> PreparedBody:
        """Check a body; its one item is the body itself."""
        refuse_large([body.section, body.part, body.text], limits, "texts")
        for name in ("units", "vector"):
            refuse_above(f"number of {name}", len(getattr(body, name, ())), _MOST_UNITS)
        return PreparedBody(None, [body])

    def compute(
        self,
        predictor: Any,
        options: None,
        items: Sequence[Any],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[_Searched]:
        """Read on, and search, body by body."""
        corpora = [_corpus(predictor, body.member) for body in items]
        return [
            _Searched(corpus, self.search(corpus, body)) for corpus, body in zip(corpora, items, strict=True)
        ]

    def search(self, corpus: Corpus, body: Any) -> dict[str, Any]:
        """What was found, beside how much was searched."""
        raise NotImplementedError

    def to_json(self, result: _Searched, body: CorpusBody) -> dict[str, Any]:
        """See `CorpusAnswer`."""
        corpus = result.corpus
        return {
            "read": corpus.num_read,
            "total": len(corpus.examples),
            "label": corpus.label,
            "problem": corpus.problem,
            **result.found,
        }


def _found(corpus: Corpus, section: str, place: Place, active: Sequence[int] = ()) -> dict[str, Any]:
    return {
        "text": corpus.examples[place.sentence].text,
        "words": corpus.words(section, place.sentence),
        "first": place.first,
        "last": place.last,
        "value": round(place.value, 4),
        "active": list(active),
    }


class MatchBody(CorpusBody):
    """Units, and when they are on."""

    units: list[Annotated[int, Field(ge=0)]] = Field(min_length=1, description="Counted from 0.")
    threshold: float = Field(ge=-_GREATEST, le=_GREATEST, description="From which a unit is on.")
    below: bool = Field(False, description="Whether it is on at or below −threshold instead.")
    length: int = Field(1, ge=1, description="Steps in a row at which it is on.")
    edges: bool = Field(False, description="Whether it must be off just before and after them.")
    count: int = Field(12, ge=1, le=_MOST_FOUND, description="The most sentences.")


class MatchAnswer(CorpusAnswer):
    """Sentences where the units are on, the best first, and other units that behave like them."""

    found: list[FoundAnswer]
    alike: list[tuple[int, float]] = Field(description="Units with their correlation over all steps read.")


class Match(CorpusOperation):
    """Find the sentences where units are on."""

    name = "match"
    summary = (
        "The sentences of a run's data where the same units are on, and other units that behave like them."
    )
    body = MatchBody
    results = "matches"
    result = MatchAnswer
    examples: ClassVar = {
        "two units": {"section": "decoder", "part": "state", "units": [0, 1], "threshold": 0.3, "length": 1}
    }

    def search(self, corpus: Corpus, body: MatchBody) -> dict[str, Any]:
        """See `Corpus.match` and `Corpus.alike`."""
        found = corpus.match(
            body.section,
            body.part,
            body.units,
            threshold=body.threshold,
            below=body.below,
            length=body.length,
            edges=body.edges,
            text=body.text,
            count=body.count,
        )
        alike = corpus.alike(body.section, body.part, body.units)
        return {
            "found": [_found(corpus, body.section, place, active) for place, active in found],
            "alike": [[unit, round(value, 4)] for unit, value in alike],
        }


class SimilarBody(CorpusBody):
    """A state."""

    vector: list[Annotated[float, Field(ge=-_GREATEST, le=_GREATEST)]] = Field(
        min_length=1, description="As many numbers as the part has."
    )
    whole: bool = Field(
        False, description="Whether to compare the mean states of sentences, and not single states."
    )
    count: int = Field(8, ge=1, le=_MOST_FOUND, description="The most sentences.")


class SimilarAnswer(CorpusAnswer):
    """The sentences with the nearest states, the nearest first."""

    found: list[FoundAnswer]


class Similar(CorpusOperation):
    """Find the nearest states."""

    name = "similar"
    summary = "The states of a run's data, or its sentences, that are nearest to a given state."
    body = SimilarBody
    results = "neighbours"
    result = SimilarAnswer
    examples: ClassVar = {"a state": {"section": "decoder", "part": "state", "vector": [0.1, -0.2]}}

    def search(self, corpus: Corpus, body: SimilarBody) -> dict[str, Any]:
        """See `Corpus.nearest`."""
        places = corpus.nearest(
            body.section, body.part, body.vector, whole=body.whole, text=body.text, count=body.count
        )
        return {"found": [_found(corpus, body.section, place) for place in places]}


class ProjectAnswer(CorpusAnswer):
    """Principal components, and where they put some states; nothing before a sentence was read."""

    mean: list[float]
    axes: list[list[float]]
    shares: list[float] = Field(description="Of the variance, of each axis.")
    points: list[tuple[float, float, str, str]] = Field(description="x, y, the word, and its sentence.")


class Project(CorpusOperation):
    """Project all states."""

    name = "project"
    summary = "The first two principal components of the states of a run's data, and some states projected."
    body = CorpusBody
    results = "projections"
    result = ProjectAnswer
    examples: ClassVar = {"a part": {"section": "decoder", "part": "state"}}

    def search(self, corpus: Corpus, body: CorpusBody) -> dict[str, Any]:
        """See `Corpus.components`."""
        components = corpus.components(body.section, body.part)
        if components is None:
            return {"mean": [], "axes": [], "shares": [], "points": []}
        points = corpus.points(body.section, body.part, components, _MOST_POINTS)
        return {
            "mean": [round(value, 6) for value in components.mean.tolist()],
            "axes": [[round(value, 6) for value in axis] for axis in components.axes.tolist()],
            "shares": [round(share, 4) for share in components.shares],
            "points": [
                [round(x, 4), round(y, 4), corpus.words(body.section, place.sentence)[place.first],
                 corpus.examples[place.sentence].text]
                for place, (x, y) in points
            ],
        }  # fmt: skip


_TRIED: dict[str, tuple[str, dict[str, Any]]] = {
    "translate": ("translate", {"alpha": True}),
    "classify": ("classify", {}),
    "tag": ("tag", {}),
    "language_model": ("sample", {"count": _NUM_EXAMPLES, "max_length": 60}),
}
"""The route that shows what a model of a task has learned, and its options."""


class ProgressAnswer(Strict):
    """What the newest weights of a run make of some examples."""

    update: int | None = Field(description="After which the weights were written.")
    label: str = Field(
        description="What the examples are: validation or training; empty where none are needed."
    )
    problem: str = Field(description="Why there are none; empty if there are some.")
    outputs: list[dict[str, Any]] = Field(
        description="`text`, `reference`, and the `result` of the task's route."
    )


class Progress(Operation[Body]):
    """Try out the newest weights of a run."""

    name = "progress"
    summary = "What the newest weights in a model's folder make of some validation examples."
    body = Body
    results = "trials"
    result = ProgressAnswer
    examples: ClassVar = {"the only model": {}}

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Any, tuple[Any, dict[str, Any]]] = WeakKeyDictionary()

    def suits(self, task: str) -> bool:
        """See `_TRIED`."""
        return task in _TRIED

    def prepare(self, body: Body, limits: Limits) -> PreparedBody:
        """Nothing to check."""
        return PreparedBody(limits, [body])

    def compute(
        self,
        predictor: Any,
        options: Limits,
        items: Sequence[Body],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[dict[str, Any]]:
        """Try them out, unless that was done."""
        return [self._try_out(predictor, options) for _ in items]

    def _try_out(self, predictor: Any, limits: Limits) -> dict[str, Any]:
        answer: dict[str, Any] = {"update": None, "label": "", "problem": "", "outputs": []}
        if predictor.folder is None:
            return {**answer, "problem": "this model was not opened from a folder"}
        folder = ModelFolder(predictor.folder).members[0].path
        try:
            file = (folder / "last.safetensors").stat()
        except OSError:
            return {**answer, "problem": "the training has not yet written any weights"}
        written = file.st_mtime_ns, file.st_size
        before, known = self._known.get(predictor, (None, {}))
        if before == written:
            return known
        try:
            newest = type(predictor).load(folder, weights="last", device=predictor.device)
            answer["update"] = newest.facts.get("update")
            answer |= _outputs(newest, limits)
        except RegardError as error:
            answer["problem"] = str(error)
        self._known[predictor] = written, answer
        return answer

    def to_json(self, result: dict[str, Any], body: Body) -> dict[str, Any]:
        """See `ProgressAnswer`."""
        return result


def _outputs(predictor: Any, limits: Limits) -> dict[str, Any]:
    """What a model makes of some examples of its run.

    Raises:
        RegardError: there are none, or it cannot read one.
    """
    name, options = _TRIED[predictor.task]
    operation = operations_of(predictor.task)[name]
    label, examples = "", [Example("", "")] * _NUM_EXAMPLES
    if "texts" in operation.body.model_fields:
        label, examples = read_examples(predictor.folder, predictor.task, _NUM_EXAMPLES, ("valid", "train"))
        pairs = [list(each.input) if isinstance(each.input, tuple) else each.text for each in examples]
        options = {**options, "texts": pairs}
    body = operation.body.model_validate(options)
    prepared = operation.prepare(body, limits)
    numbers = range(1, len(prepared.items) + 1)
    results = operation.compute(predictor, prepared.options, prepared.items, numbers, None)
    outputs = [
        {"text": example.text, "reference": example.reference, "result": operation.to_json(result, body)}
        for example, result in zip(examples, results, strict=True)
    ]
    return {"label": label, "outputs": outputs}


STUDIO = (Match(), Similar(), Project(), Progress())
"""All of them."""
