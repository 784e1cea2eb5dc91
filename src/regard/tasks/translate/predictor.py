"""From folders to models that can be asked together.

Lines → ids, as translating wants them.

Hypotheses → `Translation`s: ids become tokens, words and text.

How a translator searches: options to be given by name, as in ``translate(lines, beam=10)``, and how it draws.

A model with its two tokenizers, one batch at a time: ids in, what was found out.

Search steps a frozen copy of the model, and where there is a shortlist only the words that the batch can need.

Lines in, `Translation`s out.

Knows tokenizers, batches, search and output, and nothing of training. Sentences are sorted by length behind the
scenes and come back in order; a blank line gives a blank translation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict, Unpack

import torch

from regard.batches import batch_by_length, pad_pairs, pad_sources
from regard.checkpoint import LoadedModel, ModelFolder
from regard.config import in_range
from regard.device import find_device
from regard.errors import ConfigError, DataError
from regard.inference.ensemble import Combination, Ensemble
from regard.inference.packing import PackedModel
from regard.inference.shortlist import Shortlist, shortlisted
from regard.models import Seq2Seq
from regard.ops.native import Precision
from regard.search import (
    Hypothesis,
    LengthLimit,
    LengthPenalty,
    SamplingOptions,
    SearchOptions,
    SearchResult,
    TokenConstraints,
    decode_forced,
    sample_outputs,
    search,
)
from regard.tasks.translate.constraints import Constraints, Intervention, encode_constraints
from regard.tasks.translate.result import Translation, replace_unknowns
from regard.tasks.translate.search_tree import SearchTree, search_tree
from regard.tasks.translate.what_if import WhatIf, run_what_if
from regard.text import EncodedPair, Tokenizer
from regard.text.specials import EOS
from regard.text.tokenizer import refuse_other_vocabularies


def load_models(folders: Sequence[str | Path], weights: str) -> list[LoadedModel]:
    """Load translators that share their vocabularies.

    Args:
        folders: what `regard train` wrote.
        weights: ``best`` or ``last``.

    Raises:
        FolderError: a folder is missing, damaged, foreign or newer than this package.
        ConfigError: no folder, no such weights, or other vocabularies than the first model's.
    """
    if not folders:
        raise ConfigError("no model folders; name at least one")
    loaded = [ModelFolder(folder).load(weights, task="translate") for folder in folders]
    for folder, each in zip(folders[1:], loaded[1:], strict=True):
        refuse_other_vocabularies(loaded[0].tokenizers, each.tokenizers, str(folders[0]), str(folder))
    return loaded


class TooLongError(DataError):
    """A line has too many tokens.

    Attributes:
        place: which of the lines given, from 0; those before it could be translated.
    """

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


def read_ids(lines: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """The ids of each line; none of a line of blanks, though a character model has a token for each of them."""
    return [
        ids if line.strip() else [] for line, ids in zip(lines, tokenizer.encode_batch(lines), strict=True)
    ]


def read_sources(
    lines: Sequence[str], tokenizer: Tokenizer, max_length: int, first_line: int, name: str
) -> list[list[int]]:
    """The ids of each line, none too long.

    Args:
        lines: the sources.
        tokenizer: their own.
        max_length: the most tokens a line may have.
        first_line: the number of the first line, for the message.
        name: what stands before a line's number in the message.

    Raises:
        TooLongError: a line is longer than `max_length` tokens.
    """
    encoded = read_ids(lines, tokenizer)
    for place, (line, ids) in enumerate(zip(lines, encoded, strict=True)):
        if len(ids) > max_length:
            raise TooLongError(
                f"{name}{first_line + place} ({line[:60]!r} …) has {len(ids)} tokens, above the limit of "
                f"{max_length}; split it into sentences, or raise the limit (--max-length)",
                place,
            )
    return encoded


def rendered(
    source: str,
    source_ids: Sequence[int],
    hypotheses: Sequence[Hypothesis],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
) -> Translation:
    """The first hypothesis as a translation, the others as its alternatives.

    Args:
        source: the line.
        source_ids: its ids, without the end mark.
        hypotheses: at least one, best first.
        source_tokenizer: of the line.
        target_tokenizer: of the hypotheses.
    """
    whole_source = [*source_ids, EOS]
    source_tokens = tuple(source_tokenizer.tokens(whole_source))
    source_words = tuple(source_tokenizer.words(whole_source))
    best, *others = [
        Translation(
            source=source,
            text=target_tokenizer.decode(h.ids),
            source_tokens=source_tokens,
            tokens=tuple(target_tokenizer.tokens(h.ids)),
            score=h.score,
            log_prob=h.log_prob,
            token_log_probs=h.token_log_probs,
            alpha=h.alpha,
            source_words=source_words,
            target_words=tuple(target_tokenizer.words(h.ids)),
        )
        for h in hypotheses
    ]
    return replace(best, alternatives=tuple(others))


class Searching(TypedDict, total=False):
    """The fields of `SearchOptions`."""

    beam: int
    n_best: int
    length_penalty: LengthPenalty
    length_power: float
    coverage: float
    min_length: int
    min_ratio: float
    limit: LengthLimit
    block_ngrams: int
    unknowns: bool


@dataclass(frozen=True)
class Sampling:
    """Translations that are drawn rather than searched for.

    Attributes:
        sampling: temperature, top-k and top-p.
        number: how many of each line; the first is the translation, the others are its alternatives.
        seed: the same gives the same draws; each line and each draw has a seed of its own that comes of it.
    """

    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    number: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        in_range("the number of samples", self.number, 1)

    def seeds(self, line: int) -> list[str]:
        """A seed for each draw of a line."""
        return [f"{self.seed} {line} {k}" for k in range(self.number)]


class Searcher:
    """A model, or several that are asked together, with their two tokenizers.

    Args:
        model: in evaluation mode; it is moved to `device`.
        source_tokenizer: lines → source ids.
        target_tokenizer: target ids → lines.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: the most source tokens a line may have.
        precision: of the matrices while searching: ``float32``, ``bfloat16`` or ``int8``; not of `align`.
        shortlist: to choose from, instead of from all words; not in `align`.
        facts: what is known of the weights.
    """

    def __init__(
        self,
        model: Seq2Seq | Ensemble,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        *,
        device: str = "cpu",
        max_length: int = 1000,
        precision: Precision = "float32",
        shortlist: Shortlist | None = None,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.device = find_device(device)
        self.model: Any = model
        for member in self.models:
            member.to(self.device)
        self._packed = PackedModel(model, precision)
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.max_length = max_length
        self.shortlist = shortlist
        self.facts = facts or {}

    @property
    def models(self) -> tuple[Seq2Seq, ...]:
        """The members of the ensemble, or the one model."""
        return self.model.models if isinstance(self.model, Ensemble) else (self.model,)

    @property
    def attends(self) -> bool:
        """Whether the model has attention; one that has none cannot align."""
        return any(model.decoder.attention is not None for model in self.models)

    def encode(self, lines: Sequence[str], first_line: int = 1, name: str = "line ") -> list[list[int]]:
        """The source ids of each line, without the end mark; see `reading`."""
        return read_sources(lines, self.source_tokenizer, self.max_length, first_line, name)

    @torch.inference_mode()
    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions,
        constraints: Sequence[TokenConstraints] | None = None,
        *,
        history: bool = False,
    ) -> list[SearchResult]:
        """Search for the translations of some sentences in one batch.

        Args:
            sources: their ids, none empty.
            options: how to search.
            constraints: what is asked of each.
            history: whether to record the search.
        """
        decoder, encoded = self._read(sources, constraints)
        return search(decoder, encoded, options, constraints, history=history)

    @torch.inference_mode()
    def sample(
        self,
        sources: Sequence[Sequence[int]],
        sampling: Sampling,
        numbers: Sequence[int],
        options: SearchOptions,
        constraints: Sequence[TokenConstraints] | None = None,
    ) -> list[SearchResult]:
        """Draw translations of some sentences in one batch.

        Args:
            sources: their ids, none empty.
            sampling: how to draw, and how many of each.
            numbers: of each sentence, so that its draws are its own.
            options: the limits, and what may not be chosen.
            constraints: what is asked of each.
        """
        decoder, encoded = self._read(sources, constraints)
        seeds = [sampling.seeds(number) for number in numbers]
        return sample_outputs(decoder, encoded, sampling.sampling, seeds, options, constraints)

    def _read(
        self, sources: Sequence[Sequence[int]], constraints: Sequence[TokenConstraints] | None
    ) -> tuple[Any, Any]:
        """The decoder to step, and the sources it steps over."""
        model = self._packed.model()
        if self.shortlist is not None:
            asked = (
                [()] * len(sources)
                if constraints is None
                else [(each.prefix, *each.include) for each in constraints]
            )
            lists = [self.shortlist.of(ids, phrases) for ids, phrases in zip(sources, asked, strict=True)]
            model = shortlisted(model, lists, self.device)
        batch = pad_sources(sources).to(self.device)
        return model.decoder, model.encode(batch.source_ids, batch.source_mask)

    def rendered(
        self, source: str, source_ids: Sequence[int], hypotheses: Sequence[Hypothesis]
    ) -> Translation:
        """What was found for a line, as text; see `rendering`."""
        return rendered(source, source_ids, hypotheses, self.source_tokenizer, self.target_tokenizer)


class Translator(Searcher):
    """Lines in, translations out; made of a model and its tokenizers (see `Searcher`), or loaded from a folder."""

    @classmethod
    def load(
        cls,
        folder: str | Path | Sequence[str | Path],
        *,
        weights: str = "best",
        device: str = "cpu",
        max_length: int = 1000,
        combination: Combination = "mean",
        precision: Precision = "float32",
        shortlist: bool = False,
    ) -> "Translator":
        """Load a trained model, or several as an ensemble.

        Args:
            folder: what `regard train` wrote; several folders of models that share their vocabularies.
            weights: ``best`` or ``last``.
            device: where to compute.
            max_length: the most source tokens a line may have.
            combination: how several models become one voice; see `Ensemble`.
            precision: of the matrices while searching: ``float32``, ``bfloat16`` or ``int8``.
            shortlist: whether to choose from the (first) folder's shortlist instead of from all words.

        Raises:
            FolderError: a folder is missing, damaged, foreign or newer than this package, or has no shortlist.
            ConfigError: no such weights, no such device on this machine, or models of other vocabularies.
        """
        folders = [folder] if isinstance(folder, str | Path) else list(folder)
        loaded = load_models(folders, weights)
        first = loaded[0]
        models = [each.model for each in loaded]
        sizes = first.sizes["source"], first.sizes["target"]
        return cls(
            models[0] if len(models) == 1 else Ensemble(models, combination),
            first.tokenizers["source"],
            first.tokenizers["target"],
            device=device,
            max_length=max_length,
            precision=precision,
            shortlist=Shortlist.load(folders[0], *sizes) if shortlist else None,
            facts=first.facts,
        )

    def translate(
        self,
        lines: Iterable[str],
        options: SearchOptions | None = None,
        *,
        constraints: Constraints | Sequence[Constraints] | None = None,
        sampling: Sampling | None = None,
        unknowns_from: Mapping[str, str] | None = None,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
        **changes: Unpack[Searching],
    ) -> list[Translation]:
        """Translate lines, one `Translation` for each.

        Args:
            lines: the sources; blank ones give blank translations.
            options: how to search; the default `SearchOptions` if None.
            constraints: what is asked of every translation, or of each; nothing if None.
            sampling: draw translations instead of searching for the best; None searches.
            unknowns_from: a dictionary, perhaps an empty one, with which unknown words are replaced through attention;
                see `replace_unknowns`. None leaves them.
            batch_sentences: the most sentences searched at a time.
            batch_tokens: the most source tokens searched at a time, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what stands before a line's number in messages, such as ``file.txt:``.
            changes: single options of the search, such as ``beam=10``.

        Raises:
            DataError: a line is longer than `max_length` tokens, or there are not as many constraints as lines.
            ConfigError: an option is out of range, or a constraints cannot be spelt.
        """
        if isinstance(lines, str):
            raise DataError(f"translate takes a list of lines, not one text: translate([{lines[:40]!r}])")
        search_options = replace(options or SearchOptions(), **changes)
        sources = list(lines)
        encoded = self.encode(sources, first_line, name)
        places = [f"{name}{number}" for number in range(first_line, first_line + len(sources))]
        encoded_constraints = (
            None if constraints is None else encode_constraints(constraints, self.target_tokenizer, places)
        )
        translations = [Translation.blank(line) for line in sources]
        real = [k for k, ids in enumerate(encoded) if ids]
        lengths = [len(encoded[k]) + 1 for k in real]
        for batch in batch_by_length(lengths, batch_sentences, batch_tokens):
            chosen = [real[k] for k in batch]
            own = None if encoded_constraints is None else [encoded_constraints[k] for k in chosen]
            ids = [encoded[k] for k in chosen]
            if sampling is None:
                found = self.search(ids, search_options, own)
            else:
                found = self.sample(ids, sampling, [first_line + k for k in chosen], search_options, own)
            for k, each in zip(chosen, found, strict=True):
                translations[k] = self.rendered(sources[k], encoded[k], each.hypotheses)
        if unknowns_from is not None:
            return [replace_unknowns(each, unknowns_from) for each in translations]
        return translations

    def translate_stream(
        self, lines: Iterable[str], *, chunk: int = 256, **options: Any
    ) -> Iterator[Translation]:
        """Translate an endless stream in constant memory, `chunk` lines at a time; options as for `translate`."""
        waiting = iter(lines)
        return self.translate_groups(iter(lambda: list(islice(waiting, chunk)), []), **options)

    def translate_groups(
        self,
        groups: Iterable[Sequence[str]],
        *,
        constraints: Constraints | Iterable[Constraints] | None = None,
        **options: Any,
    ) -> Iterator[Translation]:
        """Translate groups of lines as they come, in constant memory.

        Args:
            groups: lines to be searched together, such as those that have arrived.
            constraints: what is asked of every translation, or of each.
            options: as for `translate`.
        """
        first_line = 1
        same = constraints if constraints is None or isinstance(constraints, Constraints) else None
        each = iter(() if constraints is None or isinstance(constraints, Constraints) else constraints)
        for group in groups:
            asked = same if same is constraints else tuple(islice(each, len(group)))
            try:
                yield from self.translate(group, constraints=asked, first_line=first_line, **options)
            except TooLongError as error:  # what stands before it is not lost
                before = asked[: error.place] if isinstance(asked, tuple) else asked
                yield from self.translate(
                    group[: error.place], constraints=before, first_line=first_line, **options
                )
                raise
            first_line += len(group)

    def align(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
    ) -> list[Translation]:
        """Read given pairs by forced decoding: the model's probability and attention for these very words.

        Args:
            sources: one line a sentence.
            targets: their translations, in the same order; a pair with a blank side gives a blank result.
            batch_sentences: the most sentences read at a time.
            batch_tokens: the most tokens of a side read at a time, padding counted.
            first_line: the number of the first pair, for messages about a part of a longer text.
            name: what stands before a line's number in messages, such as ``file.txt:``.

        Raises:
            DataError: the sides differ in number, or a source is longer than `max_length` tokens.
        """
        if len(sources) != len(targets):
            raise DataError(
                f"{len(sources)} source lines and {len(targets)} target lines: give one of each for every sentence"
            )
        pairs = [
            EncodedPair(source_ids, target_ids)
            for source_ids, target_ids in zip(
                self.encode(sources, first_line, name), read_ids(targets, self.target_tokenizer), strict=True
            )
        ]
        results = [Translation.blank(line) for line in sources]
        real = [k for k, pair in enumerate(pairs) if pair.source_ids and pair.target_ids]
        lengths = [pairs[k].length for k in real]
        for batch in batch_by_length(lengths, batch_sentences, batch_tokens):
            chosen = [real[k] for k in batch]
            padded = pad_pairs([pairs[k] for k in chosen]).to(self.device)
            for k, hypothesis in zip(chosen, decode_forced(self.model, padded), strict=True):
                results[k] = self.rendered(sources[k], pairs[k].source_ids, [hypothesis])
        return results

    def tree(
        self, line: str, options: SearchOptions | None = None, **changes: Unpack[Searching]
    ) -> SearchTree:
        """Translate a line, and give all that the search went through; arguments as for `translate`.

        Raises:
            DataError: the line is longer than `max_length` tokens.
        """
        return search_tree(self, line, replace(options or SearchOptions(), **changes))

    def what_if(
        self,
        line: str,
        options: SearchOptions | None = None,
        *,
        attend: Mapping[int, str | int] | None = None,
        swap: Mapping[str | int, str] | None = None,
        prefix: str = "",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        **changes: Unpack[Searching],
    ) -> WhatIf:
        """Translate a line as the model would, and once more as it is told to.

        Args:
            line: what to translate.
            options: how to search, both times; the default `SearchOptions` if None.
            attend: target step, counted from 0 → the source token to look at then: a word of the line (as it is after
                swapping), or the position of a token.
            swap: a word of the line, or its place among the words, counted from 0 → what stands there instead.
            prefix: how the translation begins.
            include: phrases that must appear in it.
            exclude: phrases that may not.
            changes: single options of the search, such as ``beam=10``.

        Raises:
            ConfigError: nothing is asked for; a word is not there, or there more than once; the model has no attention
                to be told where to look; or words are asked for that it cannot spell.
            DataError: the line is blank, or longer than `max_length` tokens.
        """
        asked = Intervention(attend or {}, swap or {}, Constraints(prefix, tuple(include), tuple(exclude)))
        return run_what_if(self, line, asked, replace(options or SearchOptions(), **changes))
