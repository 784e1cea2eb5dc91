"""`Operation`: what a route does with a body; and the parts of bodies and answers that several routes share.

A body is checked twice: its form by pydantic, its size by `Limits`. Options of search and sampling are derived from
`SearchOptions` and `SamplingOptions`, so that a new option is one field there. Knows neither HTTP nor batches.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import fields
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from regard.errors import DataError
from regard.search.options import Options, SamplingOptions, SearchOptions
from regard.server.batching import Watch
from regard.server.config import Limits
from regard.tasks import TASKS


class LimitError(DataError):
    """A body within its form, but beyond a limit of the service."""


class Strict(BaseModel):
    """A JSON object without other keys, whose values are not converted from other types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _check_unicode(text: str) -> str:
    """Refuse halves of surrogate pairs, which JSON can spell and no text has."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair, which is no character") from None
    return text


Text = Annotated[str, AfterValidator(_check_unicode)]
"""A text that can be written as UTF-8."""


class Body(Strict):
    """What every body has."""

    model: Text | None = Field(
        None, description="The model's name; not needed where one model is served for this operation."
    )


class PreparedBody(NamedTuple):
    """A body that was checked.

    Attributes:
        options: what its texts have in common; bodies of equal options can share a batch.
        items: one for each text, as `Operation.compute` takes them.
    """

    options: Hashable
    items: list[Any]


B = TypeVar("B", bound=Body)


class Operation(ABC, Generic[B]):
    """One route of the service; subclasses name it and say how it is computed.

    Attributes:
        name: of the route, ``/v1/NAME``.
        summary: one sentence for the OpenAPI document.
        body: what a request has.
        results: the key of the answer's list of results.
        result: one of them, a pydantic model or several, for the OpenAPI document.
        examples: bodies, by what they show.
        streams: whether it has partial results.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    body: ClassVar[type[Body]]
    results: ClassVar[str]
    result: ClassVar[Any]
    examples: ClassVar[dict[str, dict[str, Any]]]
    streams: ClassVar[bool] = False

    def suits(self, task: str) -> bool:
        """Whether models of a task can be used for it: those whose table of routes has it."""
        return self.name in TASKS[task].operations

    @abstractmethod
    def prepare(self, body: B, limits: Limits) -> PreparedBody:
        """Check a body against the limits.

        Raises:
            RegardError: it is beyond a limit, or an option is out of range.
        """

    @abstractmethod
    def compute(
        self,
        predictor: Any,
        options: Any,
        items: Sequence[Any],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[Any]:
        """Compute a batch.

        Args:
            predictor: of the task that has this operation.
            options: of the prepared bodies, equal for all.
            items: of one body or of several.
            numbers: of each item in its body, from 1.
            watch: called with the place of an item and a partial result.

        Raises:
            RegardError: an item cannot be computed.
        """

    def to_json(self, result: Any, body: B) -> dict[str, Any]:
        """A result as the answer has it."""
        values: dict[str, Any] = result.to_json()
        return values

    def partial_json(self, partial: Any) -> dict[str, Any]:
        """A partial result as an event has it, where the operation streams."""
        raise NotImplementedError(f"{self.name} has no partial results")


def _derive(kind: type[Options], name: str) -> type[BaseModel]:
    """A JSON object with the fields of `Options`: their defaults, ranges and sentences."""
    hints = get_type_hints(kind)
    derived: dict[str, Any] = {}
    for each in fields(kind):
        allowed = each.metadata
        bounds = {"ge": allowed["low"], "le": allowed["high"], "lt": allowed["below"]}
        if allowed["below"] == float("inf"):
            bounds["lt"] = None
        limits = {key: value for key, value in bounds.items() if value is not None}
        sentence = Field(each.default, description=allowed["help"], **limits)
        derived[each.name] = (hints[each.name], sentence)
    return create_model(name, __base__=Strict, **derived)


SearchBody = _derive(SearchOptions, "SearchOptions")
SamplingBody = _derive(SamplingOptions, "SamplingOptions")


def search_options(given: BaseModel, limits: Limits) -> SearchOptions:
    """The options of a body; a default is lowered to its limit.

    Raises:
        RegardError: they contradict each other, or one is beyond a limit.
    """
    length, ratio = limits.length, limits.ratio
    most = {
        "beam": limits.beam,
        "max_extra": length,
        "min_length": length,
        "max_ratio": ratio,
        "min_ratio": ratio,
    }
    lowered = {name: within(given, name, limit, "options.") for name, limit in most.items()}
    return SearchOptions(**{**given.model_dump(), **lowered})


def within(given: BaseModel, name: str, most: float, place: str = "") -> Any:
    """A number of a body; its default, where it was not given, is lowered to the limit.

    Raises:
        LimitError: a number that was given is beyond it.
    """
    value = getattr(given, name)
    if name in given.model_fields_set:
        refuse_above(f"{place}{name}", value, most)
    return min(value, most)


def refuse_above(name: str, value: float, most: float) -> None:
    """Raise where a number is beyond a limit.

    Raises:
        LimitError: it is.
    """
    if value > most:
        raise LimitError(f"{name}: {value:g} is above this service's limit of {most:g}")


def refuse_large(texts: Sequence[str | Sequence[str]], limits: Limits, name: str = "texts") -> None:
    """Raise where there are too many texts, or one has too many characters.

    Args:
        texts: or pairs of them.
        limits: of the service.
        name: of the texts in messages.

    Raises:
        LimitError: there are, or it has.
    """
    refuse_above(f"number of {name}", len(texts), limits.texts)
    for number, text in enumerate(texts):
        parts = [text] if isinstance(text, str) else text
        refuse_above(f"characters of {name}[{number}]", max(map(len, parts), default=0), limits.characters)


def listed(one_or_many: str | list[str]) -> list[str]:
    """One text as a list of it; a list as it is."""
    return [one_or_many] if isinstance(one_or_many, str) else one_or_many
