"""``/v1/trace``, ``/v1/tree``, ``/v1/what-if`` and ``/v1/nearest``: what the studio shows of one text.

Each body has one text. A trace is there for every task whose models read text; the others are a translator's.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from regard.plots.equations import split_equation
from regard.search.options import SearchOptions
from regard.server.batching import Watch
from regard.server.config import Limits
from regard.server.operations.operation import (
    Body,
    LimitError,
    Operation,
    PreparedBody,
    SearchBody,
    Strict,
    Text,
    refuse_above,
    refuse_large,
    search_options,
)
from regard.server.operations.translate import TranslationAnswer
from regard.tasks.predictor import refuse_too_long
from regard.tasks.trace import Trace
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.search_tree import SearchTree
from regard.tasks.translate.what_if import WhatIf

_MOST_NUMBERS = 4_000_000  # of a trace; about 40 MB of JSON
_MOST_NEAREST = 50


class TraceBody(Body):
    """A text, and what of it to trace."""

    text: Text | list[Text] = Field(
        description="What the model reads; for a model that reads two texts, both."
    )
    target: Text | None = Field(
        None, description="The words that a translator's decoder reads; by default those that search finds."
    )
    beam: int = Field(1, ge=1, description="Of that search.")
    letters: Literal["papers", "slides"] = Field("papers", description="Whose letters the equations have.")
    member: int | None = Field(
        None, ge=0, description="Of an ensemble of translators, whose steps, counted from 0."
    )


class TraceAnswer(Strict):
    """Everything that was computed; see docs/trace.md. Each part has its equation in runs, too."""

    format: int
    task: str
    text: str
    tokens: list[str]
    output: str
    output_tokens: list[str]
    dtype: str
    letters: str
    parameters: dict[str, Any]
    sections: list[dict[str, Any]]


class TraceText(Operation[TraceBody]):
    """Trace a text."""

    name = "trace"
    summary = "Everything that a model computes for a text, step by step, each number with its equation."
    body = TraceBody
    results = "traces"
    result = TraceAnswer
    examples: ClassVar = {"a text": {"text": "the house ."}}

    def prepare(self, body: TraceBody, limits: Limits) -> PreparedBody:
        """Check a body; its one item is the body itself."""
        refuse_above("beam", body.beam, limits.beam)
        texts = [body.text] if isinstance(body.text, str) else body.text
        refuse_large([*texts, body.target or ""], limits, "text and target")
        return PreparedBody(limits.length, [body])

    def compute(
        self,
        predictor: Any,
        options: int,
        items: Sequence[TraceBody],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[Trace]:
        """Trace texts, one by one."""
        return [self._trace(predictor, body, options) for body in items]

    def _trace(self, predictor: Any, body: TraceBody, longest: int) -> Trace:
        given: dict[str, Any] = {"letters": body.letters}
        text: Any = body.text if isinstance(body.text, str) else tuple(body.text)
        if predictor.task == "translate":
            given |= {"target": body.target, "beam": body.beam, "member": body.member}
        elif predictor.task == "language_model" and isinstance(text, str):  # it has no limit of its own
            refuse_too_long([text], [len(predictor.tokenizer.encode(text))], longest, name="text ")
        trace: Trace = predictor.trace(text, **given)
        values = (value for each in trace.sections for step in each.steps for value in step.values.values())
        size = sum(value.size for value in values)
        if size > _MOST_NUMBERS:
            raise LimitError(
                f"a trace of {size:,} numbers is above the limit of {_MOST_NUMBERS:,}; shorten the text"
            )
        return trace

    def to_json(self, result: Trace, body: TraceBody) -> dict[str, Any]:
        """A trace, and the runs of its equations, as a page sets them."""
        values = result.to_json()
        for section in values["sections"]:
            for part in section["parts"]:
                runs = split_equation(part["equation"][body.letters])
                part["runs"] = [[run.text, run.level, run.italic] for run in runs]
        return values


class TreeBody(Body):
    """A text to search a translation for."""

    text: Text = Field(description="What to translate.")
    options: SearchBody = Field(default_factory=SearchBody, description="Options of the search.")  # type: ignore[valid-type]


class NodeAnswer(Strict):
    """A partial hypothesis, by its last token."""

    id: int
    parent: int | None
    token: str
    log_prob: float | None
    total: float | None
    score: float | None
    fate: Literal["kept", "finished", "pruned"]
    alternatives: list[dict[str, Any]]
    alpha: list[float] | None


class TreeAnswer(TranslationAnswer):
    """A translation with its whole search."""

    steps: list[list[NodeAnswer]]


class Tree(Operation[TreeBody]):
    """Show a search."""

    name = "tree"
    summary = "A translation with its whole beam search: every partial hypothesis kept, finished or pruned."
    body = TreeBody
    results = "trees"
    result = TreeAnswer
    examples: ClassVar = {"a text": {"text": "the house .", "options": {"beam": 3}}}

    def prepare(self, body: TreeBody, limits: Limits) -> PreparedBody:
        """Check a body; its one item is the text."""
        refuse_large([body.text], limits, "text")
        return PreparedBody(search_options(body.options, limits), [body.text])

    def compute(
        self,
        predictor: Translator,
        options: SearchOptions,
        items: Sequence[str],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[SearchTree]:
        """Search, one by one."""
        return [predictor.tree(text, options) for text in items]


class WhatIfBody(TreeBody):
    """A text, and an intervention in its translation."""

    attend: dict[Text, int] = Field(
        {}, description="Target step, from 0 → the position of the source token that gets all attention."
    )
    swap: dict[Text, Text] = Field(
        {}, description="The position of a word, from 0, or the word → the word that replaces it."
    )
    prefix: Text = Field("", description="Forced first words.")
    include: list[Text] = Field([], description="Phrases that must appear.")
    exclude: list[Text] = Field([], description="Phrases that may not appear.")


class WhatIfAnswer(Strict):
    """A translation before and after an intervention; see `regard.WhatIf`."""

    attend: dict[str, int]
    prefix: str
    swap: dict[str, str]
    include: list[str]
    exclude: list[str]
    changed: bool
    divergence: int | None
    before: TranslationAnswer
    after: TranslationAnswer
    alpha_difference: list[list[float]] | None


class Intervene(Operation[WhatIfBody]):
    """Translate under an intervention."""

    name = "what-if"
    summary = (
        "A translation as it is, and under an intervention: forced words or attention, swapped source words."
    )
    body = WhatIfBody
    results = "what_ifs"
    result = WhatIfAnswer
    examples: ClassVar = {"a swap": {"text": "the house .", "swap": {"1": "cat"}}}

    def prepare(self, body: WhatIfBody, limits: Limits) -> PreparedBody:
        """Check a body; its one item is the body itself."""
        phrases = [body.text, body.prefix, *body.include, *body.exclude, *body.swap, *body.swap.values()]
        refuse_large(phrases, limits, "texts")
        refuse_above("number of attend", len(body.attend), limits.length)
        for step in body.attend:
            if not step.isdecimal() or len(step) > 6:
                raise LimitError("attend: a key is not a step, which is a number from 0")
        return PreparedBody(search_options(body.options, limits), [body])

    def compute(
        self,
        predictor: Translator,
        options: SearchOptions,
        items: Sequence[WhatIfBody],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[WhatIf]:
        """Intervene, one by one."""
        return [
            predictor.what_if(
                body.text,
                options,
                attend={int(step): position for step, position in body.attend.items()},
                swap={int(word) if word.isdecimal() else word: other for word, other in body.swap.items()},
                prefix=body.prefix,
                include=body.include,
                exclude=body.exclude,
            )
            for body in items
        ]


class NearestBody(Body):
    """A source word."""

    word: Text = Field(description="Of the source language.")
    count: int = Field(8, ge=1, le=_MOST_NEAREST, description="The most words to answer with.")


class NearestAnswer(Strict):
    """Words with similar embeddings."""

    word: str
    words: list[tuple[str, float]] = Field(description="Each with its cosine, the nearest first.")


class _Neighbours(NamedTuple):
    word: str
    words: list[tuple[str, float]]


class Nearest(Operation[NearestBody]):
    """Find words with similar embeddings."""

    name = "nearest"
    summary = "Source words whose embeddings are nearest to a word's; none for one of several pieces."
    body = NearestBody
    results = "neighbours"
    result = NearestAnswer
    examples: ClassVar = {"a word": {"word": "house"}}

    def prepare(self, body: NearestBody, limits: Limits) -> PreparedBody:
        """Check a body; its one item is the word."""
        refuse_large([body.word], limits, "word")
        return PreparedBody(body.count, [body.word])

    def compute(
        self,
        predictor: Translator,
        options: int,
        items: Sequence[str],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[_Neighbours]:
        """Find them, word by word."""
        return [_Neighbours(word, predictor.nearest_words(word, options)) for word in items]

    def to_json(self, result: _Neighbours, body: NearestBody) -> dict[str, Any]:
        """The words with their cosines, to four decimals."""
        return {
            "word": result.word,
            "words": [[word, round(cosine, 4)] for word, cosine in result.words],
        }


TRACE, TREE, WHAT_IF, NEAREST = TraceText(), Tree(), Intervene(), Nearest()
