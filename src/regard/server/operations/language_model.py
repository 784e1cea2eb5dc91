"""``/v1/sample`` and ``/v1/score``: a language model's operations."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from regard.search.options import SamplingOptions
from regard.server.batching import Watch
from regard.server.config import Limits
from regard.server.operations.operation import (
    Body,
    Operation,
    PreparedBody,
    SamplingBody,
    Strict,
    Text,
    listed,
    refuse_above,
    refuse_large,
    within,
)
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.language_model.result import Sample, Scored
from regard.tasks.predictor import refuse_too_long

_MAX_SEED = 2**32 - 1


class SampleBody(Body):
    """What to sample."""

    prompt: Text = Field("", description="What each line starts with.")
    count: int = Field(1, ge=1, description="Number of lines; a greater count starts with the same ones.")
    options: SamplingBody = Field(default_factory=SamplingBody, description="Options of sampling.")  # type: ignore[valid-type]
    seed: int = Field(1, ge=0, le=_MAX_SEED, description="Equal seeds give equal lines.")
    max_length: int = Field(100, ge=1, description="The most tokens of a line.")
    alternatives: int = Field(0, ge=0, le=50, description="Other probable tokens to report at each step.")
    stream: bool = Field(
        False,
        description="Answer with server-sent events: `partial` after each token, `result` for each line, `end`.",
    )


class CandidateAnswer(Strict):
    """A token that may come next."""

    token: str
    model_probability: float
    sampling_probability: float


class StepAnswer(CandidateAnswer):
    """A sampled token."""

    alternatives: list[CandidateAnswer]


class SampleAnswer(Strict):
    """A sampled line; see `regard.Sample`."""

    text: str
    prompt: str
    tokens: list[str]
    log_prob: float | None
    token_log_probs: list[float | None]
    steps: list[StepAnswer]


class _SampleOptions(NamedTuple):
    sampling: SamplingOptions
    max_length: int
    alternatives: int
    longest_prompt: int


class SampleLines(Operation[SampleBody]):
    """Sample lines."""

    name = "sample"
    summary = "Sample lines from a language model; word by word as a stream."
    body = SampleBody
    results = "samples"
    result = SampleAnswer
    streams = True
    examples: ClassVar = {
        "two lines": {"prompt": "the cat", "count": 2, "options": {"temperature": 0.7}},
        "word by word": {"prompt": "the cat", "alternatives": 5, "stream": True},
    }

    def prepare(self, body: SampleBody, limits: Limits) -> PreparedBody:
        """Check a body; an item is one line."""
        refuse_above("count", body.count, limits.texts)
        longest = within(body, "max_length", limits.length)
        refuse_large([body.prompt], limits, "prompt")
        sampling = SamplingOptions(**body.options.model_dump())  # type: ignore[attr-defined]
        options = _SampleOptions(sampling, longest, body.alternatives, limits.length)
        return PreparedBody(options, [(body.prompt, body.seed, number) for number in range(body.count)])

    def compute(
        self,
        predictor: LanguageModel,
        options: _SampleOptions,
        items: Sequence[tuple[str, int, int]],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[Sample]:
        """Sample a batch."""
        prompts = [prompt for prompt, _, _ in items]
        lengths = list(map(len, predictor.tokenizer.encode_batch(prompts)))
        refuse_too_long(prompts, lengths, options.longest_prompt, name="prompt of line ")
        return predictor.sample_rows(
            items,
            options.sampling,
            max_length=options.max_length,
            alternatives=options.alternatives,
            watch=watch,
        )

    def partial_json(self, partial: Sample) -> dict[str, Any]:
        """The line so far, with its newest token."""
        return {"text": partial.text, "step": partial.steps[-1].to_json()}


class ScoreBody(Body):
    """Lines to score."""

    texts: Text | list[Text] = Field(
        description="One line or several, each by itself; a blank one has no score."
    )


class ScoredAnswer(Strict):
    """A line with its log-probability; see `regard.Scored`."""

    text: str
    log_prob: float | None
    num_tokens: int
    perplexity: float | None
    tokens: list[str]
    token_log_probs: list[float | None]
    num_words: int
    num_characters: int
    num_unknown: int


class Score(Operation[ScoreBody]):
    """Score lines."""

    name = "score"
    summary = "Score lines with a language model: log-probability and perplexity. Sentence pairs are scored by align."
    body = ScoreBody
    results = "scores"
    result = ScoredAnswer
    examples: ClassVar = {"two lines": {"texts": ["the cat sleeps .", "cat the . sleeps"]}}

    def prepare(self, body: ScoreBody, limits: Limits) -> PreparedBody:
        """Check a body; an item is a line."""
        texts = listed(body.texts)
        refuse_large(texts, limits)
        return PreparedBody(limits.length, texts)

    def compute(
        self,
        predictor: LanguageModel,
        options: int,
        items: Sequence[str],
        numbers: Sequence[int],
        watch: Watch | None,
    ) -> Sequence[Scored]:
        """Score a batch."""
        lengths = list(map(len, predictor.tokenizer.encode_batch(items)))
        refuse_too_long(items, lengths, options, first_line=numbers[0], name="text ")
        return list(predictor.score(items))


SAMPLE, SCORE = SampleLines(), Score()
