"""`Client` and `AsyncClient`: a service from Python, with the results that the predictors give.

    client = regard.Client("http://127.0.0.1:8000")
    client.translate(["the house ."])[0].links

In: texts and options. Out: `Translation`, `Sample`, `Scored`, `Classification`, `Tagging`, `WhatIf`, `SearchTree` and
`Trace`, which plot themselves as those of a local model do. Answers of an overloaded service (429, 503) are waited for
as long as its Retry-After says. Both clients make and read the same `_Call`s; only how one is sent differs. Loads
neither torch nor the server, but for `tree` and `trace`, whose results come with it.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypedDict, TypeVar, Unpack

from regard.errors import MissingExtraError, RegardError
from regard.search.options import DEFAULT_SAMPLING, DEFAULT_SEARCH, Options, SamplingOptions, SearchOptions
from regard.tasks.classify.result import Classification
from regard.tasks.language_model.result import Sample, Scored
from regard.tasks.tag.result import Tagging
from regard.tasks.translate.result import Translation
from regard.tasks.translate.what_if import WhatIf

if TYPE_CHECKING:
    import httpx

    from regard.tasks.trace import Trace
    from regard.tasks.translate.constraints import Constraints
    from regard.tasks.translate.search_tree import SearchTree

KEY_VARIABLE = "REGARD_API_KEY"
"""The environment variable with the key that a client sends where none is given."""

_OVERLOADED = (429, 503)
_LONGEST_WAIT = 60.0

T = TypeVar("T")
R = TypeVar("R")


class ServiceError(RegardError):
    """An answer that is not a success, or none.

    Attributes:
        status: of HTTP; None where there was no answer.
        code: one word, as ``too_long``.
    """

    def __init__(self, message: str, status: int | None = None, code: str = "") -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True)
class _Call(Generic[T]):
    """A request, and how its answer is read."""

    path: str
    body: dict[str, Any]
    results: str
    read: Callable[[Mapping[str, Any]], T]

    def read_all(self, answer: Mapping[str, Any]) -> list[T]:
        return [self.read(each) for each in answer[self.results]]


def _changed(options: Options) -> dict[str, Any]:
    """The options that are not at their defaults, which a service may have lowered to its limits."""
    return {
        each.name: getattr(options, each.name)
        for each in fields(options)
        if getattr(options, each.name) != each.default
    }


class TranslateArguments(TypedDict, total=False):
    """How texts are translated.

    Attributes:
        constraints: on every translation, or on each.
        sampling: sample translations instead of searching for the best.
        num_samples: how many per text, 1 by default; the second and further are alternatives.
        seed: of sampling, 1 by default.
        replace_unknowns: whether each unknown word is replaced by the source word with the most attention.
        alpha: whether to fetch the attention, to four decimals, as by default; links are always there.
        model: which, where several are served.
    """

    constraints: "Constraints | Sequence[Constraints] | None"
    sampling: SamplingOptions | None
    num_samples: int
    seed: int
    replace_unknowns: bool
    alpha: bool
    model: str | None


class SampleArguments(TypedDict, total=False):
    """How lines are sampled; see `LanguageModel.sample`.

    Attributes:
        count: how many, 1 by default.
        prompt: what each starts with.
        options: temperature, top-k and top-p.
        seed: 1 by default.
        max_length: the most tokens sampled, 100 by default.
        alternatives: how many other tokens to report at each step, 5 by default.
        model: which, where several are served.
    """

    count: int
    prompt: str
    options: SamplingOptions
    seed: int
    max_length: int
    alternatives: int
    model: str | None


class TraceArguments(TypedDict, total=False):
    """What of a text to trace; see the predictors' ``trace``.

    Attributes:
        target: the words that a translator's decoder reads; by default those that search finds.
        beam: of that search, 1 by default.
        letters: whose letters the equations have, ``papers`` or ``slides``.
        member: of an ensemble of translators, whose steps, counted from 0.
        model: which, where several are served.
    """

    target: str | None
    beam: int
    letters: str
    member: int | None
    model: str | None


class WhatIfArguments(TypedDict, total=False):
    """An intervention in a translation; see `Translator.what_if`.

    Attributes:
        attend: target step → the position of the source token that gets all attention, both counted from 0.
        swap: the position of a word, counted from 0, or the word → the word that replaces it.
        prefix: forced first words.
        include: phrases that must appear.
        exclude: phrases that may not appear.
        model: which, where several are served.
    """

    attend: Mapping[int, int]
    swap: Mapping[int | str, str]
    prefix: str
    include: Sequence[str]
    exclude: Sequence[str]
    model: str | None


def _translate(
    texts: Iterable[str],
    options: SearchOptions,
    constraints: "Constraints | Sequence[Constraints] | None" = None,
    sampling: SamplingOptions | None = None,
    num_samples: int = 1,
    seed: int = 1,
    replace_unknowns: bool = False,
    alpha: bool = True,
    model: str | None = None,
) -> _Call[Translation]:
    body: dict[str, Any] = {"texts": list(texts), "options": _changed(options), "alpha": alpha}
    if constraints is not None:
        body["constraints"] = (
            [asdict(each) for each in constraints]
            if isinstance(constraints, Sequence)
            else asdict(constraints)
        )
    if sampling is not None:
        body |= {"sampling": _changed(sampling), "num_samples": num_samples, "seed": seed}
    body |= {"replace_unknowns": replace_unknowns, "model": model}
    return _Call("/v1/translate", body, "translations", Translation.from_json)


def _align(
    sources: Iterable[str], targets: Iterable[str], alpha: bool, model: str | None
) -> _Call[Translation]:
    body = {"sources": list(sources), "targets": list(targets), "alpha": alpha, "model": model}
    return _Call("/v1/align", body, "alignments", Translation.from_json)


def _sample(
    count: int = 1,
    prompt: str = "",
    options: SamplingOptions = DEFAULT_SAMPLING,
    seed: int = 1,
    max_length: int = 100,
    alternatives: int = 5,
    model: str | None = None,
) -> _Call[Sample]:
    body = {
        "count": count,
        "prompt": prompt,
        "options": _changed(options),
        "seed": seed,
        "max_length": max_length,
        "alternatives": alternatives,
        "model": model,
    }
    return _Call("/v1/sample", body, "samples", Sample.from_json)


def _score(texts: Iterable[str], model: str | None) -> _Call[Scored]:
    return _Call("/v1/score", {"texts": list(texts), "model": model}, "scores", Scored.from_json)


def _classify(texts: Iterable[str | Sequence[str]], model: str | None) -> _Call[Classification]:
    listed = [text if isinstance(text, str) else list(text) for text in texts]
    return _Call(
        "/v1/classify", {"texts": listed, "model": model}, "classifications", Classification.from_json
    )


def _tag(texts: Iterable[str], model: str | None) -> _Call[Tagging]:
    return _Call("/v1/tag", {"texts": list(texts), "model": model}, "taggings", Tagging.from_json)


def _trace(text: str | Sequence[str], arguments: TraceArguments) -> _Call["Trace"]:
    def read(values: Mapping[str, Any]) -> "Trace":
        from regard.tasks.trace import Trace

        return Trace.from_json(values)

    body = {"text": text if isinstance(text, str) else list(text), **arguments}
    return _Call("/v1/trace", body, "traces", read)


def _tree(text: str, options: SearchOptions, model: str | None) -> _Call["SearchTree"]:
    def read(values: Mapping[str, Any]) -> "SearchTree":
        from regard.tasks.translate.search_tree import SearchTree

        return SearchTree.from_json(values)

    return _Call("/v1/tree", {"text": text, "options": _changed(options), "model": model}, "trees", read)


def _what_if(text: str, options: SearchOptions, arguments: WhatIfArguments) -> _Call[WhatIf]:
    given: dict[str, Any] = dict(arguments)
    for name in ("attend", "swap"):
        given[name] = {str(key): value for key, value in given.get(name, {}).items()}
    for name in ("include", "exclude"):
        given[name] = list(given.get(name, ()))
    body = {"text": text, "options": _changed(options), **given}
    return _Call("/v1/what-if", body, "what_ifs", WhatIf.from_json)


def _nearest(word: str, count: int, model: str | None) -> _Call[list[tuple[str, float]]]:
    body = {"word": word, "count": count, "model": model}
    return _Call(
        "/v1/nearest", body, "neighbours", lambda values: [(word, cosine) for word, cosine in values["words"]]
    )


class _Connection(Generic[R]):
    """What both clients share.

    Args:
        url: of the service.
        key: the API key; by default that of the variable REGARD_API_KEY.
        seconds: the longest wait for an answer.
        retries: how often an overloaded service is called again.
        transport: of httpx, for tests; None connects to the URL.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        key: str | None = None,
        seconds: float = 60.0,
        retries: int = 3,
        transport: Any = None,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtraError("a client of the service", "httpx", "serve") from None
        key = os.environ.get(KEY_VARIABLE) if key is None else key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._url, self._retries = url, retries
        self._errors = httpx.HTTPError
        kind = self._kind()
        self._http: R = kind(base_url=url, headers=headers, timeout=seconds, transport=transport)

    def _kind(self) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def _wait(self, answer: "httpx.Response", attempt: int) -> float | None:
        """How long to wait before the next attempt; None where the answer is one."""
        if answer.status_code not in _OVERLOADED or attempt >= self._retries:
            return None
        try:
            return min(float(answer.headers.get("retry-after", "1")), _LONGEST_WAIT)
        except ValueError:
            return 1.0

    def _check(self, answer: "httpx.Response") -> None:
        """Raise where an answer, which was read, is not a success."""
        if answer.is_success:
            return
        try:
            error = answer.json()["error"]
            message, code = str(error["message"]), str(error["code"])
        except (ValueError, KeyError, TypeError):
            message, code = f"status {answer.status_code}", ""
        raise ServiceError(f"{self._url}: {message}", answer.status_code, code)

    def _no_answer(self, error: Exception) -> ServiceError:
        reason = str(error) or type(error).__name__
        return ServiceError(
            f"{self._url}: no answer ({reason}); is the service running? Start it: regard serve"
        )


def _events(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Server-sent events: (name, data)."""
    name = ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


def _read_event(name: str, data: dict[str, Any], call: _Call[T]) -> tuple[int, str | T] | None:
    """The index of a text with its partial text or its result; None for the end."""
    if name == "error":
        raise ServiceError(data["error"]["message"], None, data["error"]["code"])
    if name == "partial":
        return data["index"], data["text"]
    return (data["index"], call.read(data)) if name == "result" else None


class Client(_Connection["httpx.Client"]):
    """A service, called and waited for; a context that closes its connections."""

    def _kind(self) -> "type[httpx.Client]":
        import httpx

        return httpx.Client

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def translate(
        self,
        texts: Iterable[str],
        options: SearchOptions = DEFAULT_SEARCH,
        **arguments: Unpack[TranslateArguments],
    ) -> list[Translation]:
        """Translate texts, one `Translation` for each.

        Args:
            texts: the sources.
            options: how to search.
            arguments: constraints, samples, attention and the model; see `TranslateArguments`.

        Raises:
            ServiceError: the service refuses it, or does not answer.
        """
        return self._call(_translate(texts, options, **arguments))

    def stream_translations(
        self, texts: Iterable[str], options: SearchOptions = DEFAULT_SEARCH, *, model: str | None = None
    ) -> Iterator[tuple[int, str | Translation]]:
        """Translate texts and watch: yields the index of a text with its translation so far, and last the whole.

        Raises:
            ServiceError: the service refuses it, or does not answer.
        """
        return self._stream(_translate(texts, options, model=model))

    def align(
        self, sources: Iterable[str], targets: Iterable[str], *, alpha: bool = True, model: str | None = None
    ) -> list[Translation]:
        """Align and score sentence pairs; see `Translator.align`."""
        return self._call(_align(sources, targets, alpha, model))

    def sample(self, **arguments: Unpack[SampleArguments]) -> list[Sample]:
        """Sample lines; see `LanguageModel.sample`."""
        return self._call(_sample(**arguments))

    def stream_samples(self, **arguments: Unpack[SampleArguments]) -> Iterator[tuple[int, str | Sample]]:
        """Sample lines word by word: yields the index of a line with its text so far, and last the whole."""
        return self._stream(_sample(**arguments))

    def score(self, texts: Iterable[str], *, model: str | None = None) -> list[Scored]:
        """Score lines, each by itself; see `LanguageModel.score`."""
        return self._call(_score(texts, model))

    def classify(
        self, texts: Iterable[str | Sequence[str]], *, model: str | None = None
    ) -> list[Classification]:
        """Classify texts or pairs of texts; see `Classifier.classify`."""
        return self._call(_classify(texts, model))

    def tag(self, texts: Iterable[str], *, model: str | None = None) -> list[Tagging]:
        """Tag the words of sentences; see `Tagger.tag`."""
        return self._call(_tag(texts, model))

    def trace(self, text: str | Sequence[str], **arguments: Unpack[TraceArguments]) -> "Trace":
        """Everything that a model computes for a text, or for a pair of them; see docs/trace.md."""
        return self._call(_trace(text, arguments))[0]

    def tree(
        self, text: str, options: SearchOptions = DEFAULT_SEARCH, *, model: str | None = None
    ) -> "SearchTree":
        """A translation with its whole search; see `Translator.tree`."""
        return self._call(_tree(text, options, model))[0]

    def what_if(
        self, text: str, options: SearchOptions = DEFAULT_SEARCH, **arguments: Unpack[WhatIfArguments]
    ) -> WhatIf:
        """A translation before and after an intervention; see `Translator.what_if`."""
        return self._call(_what_if(text, options, arguments))[0]

    def nearest_words(
        self, word: str, count: int = 8, *, model: str | None = None
    ) -> list[tuple[str, float]]:
        """Source words with the nearest embeddings, each with its cosine; see `Translator.nearest_words`."""
        return self._call(_nearest(word, count, model))[0]

    def models(self) -> list[dict[str, Any]]:
        """What is served: name, task, operations, version and so on of each model."""
        models: list[dict[str, Any]] = self._send("GET", "/v1/models", None)["models"]
        return models

    def reload(self, name: str) -> dict[str, Any]:
        """Replace a model by what its folder holds now; needs an operator's key."""
        return self._send("POST", f"/v1/models/{name}/reload", None)

    def _call(self, call: _Call[T]) -> list[T]:
        return call.read_all(self._send("POST", call.path, call.body))

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        for attempt in range(self._retries + 1):
            try:
                answer = self._http.request(method, path, json=body)
            except self._errors as error:
                raise self._no_answer(error) from None
            wait = self._wait(answer, attempt)
            if wait is None:
                break
            time.sleep(wait)
        self._check(answer)
        values: dict[str, Any] = answer.json()
        return values

    def _stream(self, call: _Call[T]) -> Iterator[tuple[int, str | T]]:
        for attempt in range(self._retries + 1):
            try:
                with self._http.stream("POST", call.path, json={**call.body, "stream": True}) as answer:
                    wait = self._wait(answer, attempt)
                    if wait is None:
                        if not answer.is_success:
                            answer.read()
                        self._check(answer)
                        for name, data in _events(answer.iter_lines()):
                            if (event := _read_event(name, data, call)) is not None:
                                yield event
                        return
            except self._errors as error:
                raise self._no_answer(error) from None
            time.sleep(wait)


class AsyncClient(_Connection["httpx.AsyncClient"]):
    """A service, called from an event loop; methods and arguments are those of `Client`."""

    def _kind(self) -> "type[httpx.AsyncClient]":
        import httpx

        return httpx.AsyncClient

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def translate(
        self,
        texts: Iterable[str],
        options: SearchOptions = DEFAULT_SEARCH,
        **arguments: Unpack[TranslateArguments],
    ) -> list[Translation]:
        """See `Client.translate`."""
        return await self._call(_translate(texts, options, **arguments))

    def stream_translations(
        self, texts: Iterable[str], options: SearchOptions = DEFAULT_SEARCH, *, model: str | None = None
    ) -> AsyncIterator[tuple[int, str | Translation]]:
        """See `Client.stream_translations`."""
        return self._stream(_translate(texts, options, model=model))

    async def align(
        self, sources: Iterable[str], targets: Iterable[str], *, alpha: bool = True, model: str | None = None
    ) -> list[Translation]:
        """See `Client.align`."""
        return await self._call(_align(sources, targets, alpha, model))

    async def sample(self, **arguments: Unpack[SampleArguments]) -> list[Sample]:
        """See `Client.sample`."""
        return await self._call(_sample(**arguments))

    def stream_samples(self, **arguments: Unpack[SampleArguments]) -> AsyncIterator[tuple[int, str | Sample]]:
        """See `Client.stream_samples`."""
        return self._stream(_sample(**arguments))

    async def score(self, texts: Iterable[str], *, model: str | None = None) -> list[Scored]:
        """See `Client.score`."""
        return await self._call(_score(texts, model))

    async def classify(
        self, texts: Iterable[str | Sequence[str]], *, model: str | None = None
    ) -> list[Classification]:
        """See `Client.classify`."""
        return await self._call(_classify(texts, model))

    async def tag(self, texts: Iterable[str], *, model: str | None = None) -> list[Tagging]:
        """See `Client.tag`."""
        return await self._call(_tag(texts, model))

    async def trace(self, text: str | Sequence[str], **arguments: Unpack[TraceArguments]) -> "Trace":
        """See `Client.trace`."""
        return (await self._call(_trace(text, arguments)))[0]

    async def tree(
        self, text: str, options: SearchOptions = DEFAULT_SEARCH, *, model: str | None = None
    ) -> "SearchTree":
        """See `Client.tree`."""
        return (await self._call(_tree(text, options, model)))[0]

    async def what_if(
        self, text: str, options: SearchOptions = DEFAULT_SEARCH, **arguments: Unpack[WhatIfArguments]
    ) -> WhatIf:
        """See `Client.what_if`."""
        return (await self._call(_what_if(text, options, arguments)))[0]

    async def nearest_words(
        self, word: str, count: int = 8, *, model: str | None = None
    ) -> list[tuple[str, float]]:
        """See `Client.nearest_words`."""
        return (await self._call(_nearest(word, count, model)))[0]

    async def models(self) -> list[dict[str, Any]]:
        """See `Client.models`."""
        models: list[dict[str, Any]] = (await self._send("GET", "/v1/models", None))["models"]
        return models

    async def reload(self, name: str) -> dict[str, Any]:
        """See `Client.reload`."""
        return await self._send("POST", f"/v1/models/{name}/reload", None)

    async def _call(self, call: _Call[T]) -> list[T]:
        return call.read_all(await self._send("POST", call.path, call.body))

    async def _send(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        for attempt in range(self._retries + 1):
            try:
                answer = await self._http.request(method, path, json=body)
            except self._errors as error:
                raise self._no_answer(error) from None
            wait = self._wait(answer, attempt)
            if wait is None:
                break
            await asyncio.sleep(wait)
        self._check(answer)
        values: dict[str, Any] = answer.json()
        return values

    async def _stream(self, call: _Call[T]) -> AsyncIterator[tuple[int, str | T]]:
        for attempt in range(self._retries + 1):
            try:
                async with self._http.stream("POST", call.path, json={**call.body, "stream": True}) as answer:
                    wait = self._wait(answer, attempt)
                    if wait is None:
                        if not answer.is_success:
                            await answer.aread()
                        self._check(answer)
                        name = ""
                        async for line in answer.aiter_lines():
                            if line.startswith("event: "):
                                name = line.removeprefix("event: ")
                            for event in _events([f"event: {name}", line]):
                                if (read := _read_event(*event, call)) is not None:
                                    yield read
                        return
            except self._errors as error:
                raise self._no_answer(error) from None
            await asyncio.sleep(wait)
