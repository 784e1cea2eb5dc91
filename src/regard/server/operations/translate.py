"""``/v1/translate`` and ``/v1/align``: a translator's operations."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from regard.errors import DataError
from regard.search.options import SamplingOptions, SearchOptions
from regard.server.batching import Watch
from regard.server.config import Limits
from regard.server.operations.operation import (
    Body,
    Operation,
    PreparedBody,
    SamplingBody,
    SearchBody,
    Strict,
    Text,
    listed,
    refuse_above,
    refuse_large,
    search_options,
)
from regard.tasks.align.predictor import AlignedPair, Aligner
from regard.tasks.translate.constraints import Constraints
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation

_MAX_SEED = 2**32 - 1


class ConstraintsBody(Strict):
    """Constraints on a translation."""

    prefix: Text = Field("", description="Its forced first words.")
    include: list[Text] = Field(
        [], description="Phrases that must appear, possibly as the start of a longer word."
    )
    exclude: list[Text] = Field([], description="Phrases that may not appear.")

    def phrases(self) -> list[str]:
        """All texts of it."""
        return [self.prefix, *self.include, *self.exclude]


_FREE = ConstraintsBody.model_validate({})


class TranslateBody(Body):
    """Texts to translate."""

    texts: Text | list[Text] = Field(
        description="One text or several. For a model with features, each is a text, a tab and its features. Blank "
        "texts have blank translations."
    )
    options: SearchBody = Field(default_factory=SearchBody, description="Options of the search.")  # type: ignore[valid-type]
    constraints: ConstraintsBody | list[ConstraintsBody] | None = Field(
        None, description="On every translation, or one object for each text."
    )
    sampling: SamplingBody | None = Field(  # type: ignore[valid-type]
        None, description="Sample instead of searching for the best."
    )
    num_samples: int = Field(1, ge=1, description="Samples per text, the second and further as alternatives.")
    seed: int = Field(1, ge=0, le=_MAX_SEED, description="Equal seeds give equal samples.")
    replace_unknowns: bool = Field(
        False, description="Replace each unknown word by the source word with the most attention."
    )
    alpha: bool = Field(False, description="Include the attention weights; links are always included.")
    stream: bool = Field(
        False,
        description="Answer with server-sent events: `partial` with the translation so far, after each step; `result` "
        "for each text; `end`.",
    )


class TranslationAnswer(Strict):
    """A translation; see `regard.Translation`."""

    source: str
    features: list[str] = Field([])
    text: str
    score: float | None = Field(description="The length-normalised log-probability, which ranks hypotheses.")
    log_prob: float | None
    source_tokens: list[str] = Field(description="The last is the end of the sentence.")
    tokens: list[str]
    token_log_probs: list[float | None]
    source_words: list[int | None] = Field(description="The word of each source token.")
    target_words: list[int | None]
    links: list[tuple[int, int]] = Field(description="Word alignment: pairs of source and target, from 0.")
    link_units: list[str] = Field(description="What links count on each side: words or characters.")
    alpha: list[list[float]] | None = Field(None, description="One row per target token; only on demand.")
    alignment: list[list[float]] | None = Field(
        None,
        description="The same of an alignment attention, from which links are read; where the model has one.",
    )
    alternatives: list["TranslationAnswer"] = Field(description="The rest of the n-best list.")


class _TranslateOptions(NamedTuple):
    search: SearchOptions
    constrained: bool
    replace_unknowns: bool
    sampling: SamplingOptions | None
    num_samples: int
    seed: int
    alone: (
        object  # samples depend on the line's number: they share a batch with those of their own body alone
    )


class Translate(Operation[TranslateBody]):
    """Translate texts."""

    name = "translate"
    summary = (
        "Translate texts: n-best lists, alignments, constraints, samples, partial translations as a stream."
    )
    body = TranslateBody
    results = "translations"
    result = TranslationAnswer
    streams = True
    examples: ClassVar = {
        "one text": {"texts": "the house is small ."},
        "n-best": {"texts": ["the house .", "a cat ."], "options": {"beam": 10, "n_best": 3}},
        "constraints": {"texts": "the house .", "constraints": {"prefix": "la", "exclude": ["chat"]}},
        "stream": {"texts": "the house .", "stream": True},
    }

    def prepare(self, body: TranslateBody, limits: Limits) -> PreparedBody:
        """Check a body; an item is a text with its constraints."""
        texts = listed(body.texts)
        refuse_large(texts, limits)
        refuse_above("num_samples", body.num_samples, limits.beam)
        search = search_options(body.options, limits)
        given = body.constraints
        each = given if isinstance(given, list) else [given or _FREE] * len(texts)
        if len(each) != len(texts):
            raise DataError(
                f"{len(each)} constraints for {len(texts)} texts; give one object, or one for each"
            )
        for constraints in each:
            refuse_large(constraints.phrases(), limits, "phrases")
        sampling = None if body.sampling is None else SamplingOptions(**body.sampling.model_dump())
        options = _TranslateOptions(
            search,
            given is not None,
            body.replace_unknowns,
            sampling,
            body.num_samples if sampling else 1,
            body.seed if sampling else 1,
            None if sampling is None else object(),
        )
        items = [
            (text, Constraints(own.prefix, tuple(own.include), tuple(own.exclude)))
            for text, own in zip(texts, each, strict=True)
        ]
        return PreparedBody(options, items)

    def compute(
        self,
        predictor: Translator,
        options: _TranslateOptions,
        items: Sequence[Any],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[Translation]:
        """Translate a batch."""
        return predictor.translate(
            [text for text, _ in items],
            options.search,
            constraints=[constraints for _, constraints in items] if options.constrained else None,
            sampling=options.sampling,
            num_samples=options.num_samples,
            seed=options.seed,
            unknowns_from={} if options.replace_unknowns else None,
            batch_sentences=len(items),
            first_line=numbers[0],
            name="text ",
            watch=watch,
        )

    def to_json(self, result: Translation, body: TranslateBody) -> dict[str, Any]:
        """A translation, with alpha on demand."""
        return result.to_json(alpha=body.alpha)

    def partial_json(self, partial: str) -> dict[str, Any]:
        """The translation so far."""
        return {"text": partial}


class AlignBody(Body):
    """Sentence pairs."""

    sources: Text | list[Text] = Field(description="One text or several.")
    targets: Text | list[Text] = Field(description="Their translations, in the same order.")
    alpha: bool = Field(False, description="Include the attention weights; links are always included.")


class AlignmentAnswer(Strict):
    """A pair as an aligner of words aligns it; see `regard.AlignedPair`."""

    source: list[str] = Field(description="Its words.")
    target: list[str]
    links: list[tuple[int, int]] = Field(description="(source word, target word), both from 0.")
    probabilities: list[float] = Field(description="Of each link.")
    forward: list[list[float]] | None = Field(
        None, description="On demand, the attention of each target word over the source words."
    )
    backward: list[list[float]] | None = Field(
        None, description="On demand, that of each source word (a column) over the target words."
    )


class Align(Operation[AlignBody]):
    """Align given pairs, by a translator or by an aligner of words."""

    name = "align"
    summary = (
        "Align sentence pairs: links of their words, and of a translator its probability of the translations."
    )
    body = AlignBody
    results = "alignments"
    result = TranslationAnswer | AlignmentAnswer
    examples: ClassVar = {"one pair": {"sources": "the house .", "targets": "la maison ."}}

    def prepare(self, body: AlignBody, limits: Limits) -> PreparedBody:
        """Check a body; an item is a pair."""
        sources, targets = listed(body.sources), listed(body.targets)
        refuse_large(sources, limits, "sources")
        refuse_large(targets, limits, "targets")
        if len(sources) != len(targets):
            raise DataError(f"{len(sources)} sources and {len(targets)} targets; give one of each")
        return PreparedBody(None, list(zip(sources, targets, strict=True)))

    def compute(
        self,
        predictor: Translator | Aligner,
        options: None,
        items: Sequence[tuple[str, str]],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[Translation | AlignedPair]:
        """Align a batch."""
        sources, targets = map(list, zip(*items, strict=True))
        return predictor.align(
            sources,
            targets,
            batch_sentences=len(items),
            first_line=numbers[0],
            name="source ",
            target_name="target ",
        )

    def to_json(self, result: Translation | AlignedPair, body: AlignBody) -> dict[str, Any]:
        """An alignment, with alpha on demand."""
        return result.to_json(alpha=body.alpha)


TRANSLATE, ALIGN = Translate(), Align()
