"""`Translator`: lines in, `Translation`s out.

In: a model folder, or a model with its two tokenizers; lines, with features where the model takes them. Out: one
`Translation` per line, in order, also as a `SearchTree` or a `WhatIf`; a blank line gives a blank translation. Search
steps a packed copy of the model and, where there is a shortlist, chooses among the words that the batch can need. Knows
tokenizers, batches, search and output, and nothing of training.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import torch

from regard.batches import pad_pairs, pad_sources
from regard.checkpoint import ModelFolder
from regard.config import in_range
from regard.errors import ConfigError, DataError
from regard.inference.ensemble import Combination, Ensemble
from regard.inference.packing import PackedModel
from regard.inference.shortlist import Shortlist, with_shortlists
from regard.models import Seq2Seq
from regard.ops.native import Precision
from regard.processes import ALONE, Processes
from regard.search.beam import Watch, search
from regard.search.constraints import TokenConstraints
from regard.search.forced import decode_forced
from regard.search.hypotheses import Hypothesis
from regard.search.options import DEFAULT_SEARCH, SamplingOptions, SearchOptions, takes_options
from regard.search.sampling import sample_outputs
from regard.search.trace import SearchResult
from regard.tasks.predictor import (
    CHUNK,
    Predictor,
    predict_by_length,
    predict_groups,
    refuse_text,
    refuse_too_long,
)
from regard.tasks.trace import Trace
from regard.tasks.tracing import trace_translation, traced_model
from regard.tasks.translate.constraints import Constraints, Intervention, encode_constraints, swap_words
from regard.tasks.translate.result import Translation, replace_unknowns
from regard.tasks.translate.search_tree import SearchTree, decode_history
from regard.tasks.translate.what_if import WhatIf
from regard.text import EncodedPair, FeaturedText, Source, Tokenizer, parse_source, source_text
from regard.text.formats import group_by_size
from regard.text.formats.layout import split_features
from regard.text.sources import list_features
from regard.text.specials import EOS, SPECIALS, UNK
from regard.text.tokenizer import refuse_other_vocabularies

GREEDY = SearchOptions(beam=1)
"""The most probable word at every step."""


class Translator(Predictor):
    """A model, or an ensemble of several, with its two tokenizers.

    Args:
        model: in evaluation mode; it is moved to `device`.
        source_tokenizer: lines → source ids.
        target_tokenizer: target ids → lines.
        device: where to compute: ``cpu``, ``cuda``, or ``auto``.
        max_length: the most tokens a line may have, a source or a given target.
        precision: of the matrices while searching: ``float32``, ``bfloat16`` or ``int8``; not of `align`.
        shortlist: the words to choose from, instead of the whole vocabulary; not in `align`.
        facts: what is known of the weights.
    """

    task = "translate"
    combines = True

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
        super().__init__(model, device=device, facts=facts)
        self._packed = PackedModel(model, precision)
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.max_length = max_length
        self.shortlist = shortlist

    @classmethod
    def load(  # type: ignore[override]  # it takes several folders, and names its options
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
            folder: what `regard train` wrote, a model or an ensemble; several folders of models that share their
                vocabularies.
            weights: ``best`` or ``last``.
            device: where to compute.
            max_length: the most tokens a line may have, a source or a given target.
            combination: how the probabilities of an ensemble are combined; see `Ensemble`.
            precision: of the matrices while searching: ``float32``, ``bfloat16`` or ``int8``.
            shortlist: whether to choose from the (first) folder's shortlist instead of the whole vocabulary.

        Raises:
            FolderError: a folder is missing, damaged, foreign or newer than this package, or has no shortlist.
            ConfigError: no folder, no such weights, no such device on this machine, or models of other vocabularies.
        """
        given = [folder] if isinstance(folder, str | Path) else list(folder)
        if not given:
            raise ConfigError("no model folders; name at least one")
        members = [member for each in given for member in ModelFolder(each).members]
        loaded = [member.load(weights, task=cls.task) for member in members]
        first = loaded[0]
        for member, other in zip(members[1:], loaded[1:], strict=True):
            refuse_other_vocabularies(
                first.tokenizers, other.tokenizers, str(members[0].path), str(member.path)
            )
        models = [each.model for each in loaded]
        sizes = first.sizes["source"], first.sizes["target"]
        translator = cls(
            models[0] if len(models) == 1 else Ensemble(models, combination),
            first.tokenizers["source"],
            first.tokenizers["target"],
            device=device,
            max_length=max_length,
            precision=precision,
            shortlist=Shortlist.load(given[0], *sizes) if shortlist else None,
            facts=first.facts,
        )
        translator.folder = ", ".join(map(str, given))
        return translator

    @property
    def models(self) -> tuple[Seq2Seq, ...]:
        """The members of the ensemble, or the one model."""
        return self.model.models if isinstance(self.model, Ensemble) else (self.model,)

    @property
    def attends(self) -> bool:
        """Whether the model has attention; one that has none cannot align."""
        return any(model.decoder.attention is not None for model in self.models)

    @property
    def aligns(self) -> bool:
        """Whether the model has an alignment attention, from which links are read."""
        return any(model.alignment is not None for model in self.models)

    @property
    def copies(self) -> bool:
        """Whether the model copies from its source; all members of an ensemble must."""
        return all(model.copy_map is not None for model in self.models)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that a source has beside its text; none for a model of plain text."""
        return self.source_tokenizer.features

    @takes_options(SearchOptions)
    def translate(
        self,
        lines: Iterable[Source | tuple[str, Any]],
        options: SearchOptions = DEFAULT_SEARCH,
        *,
        constraints: Constraints | Sequence[Constraints] | None = None,
        sampling: SamplingOptions | None = None,
        num_samples: int = 1,
        seed: int = 1,
        unknowns_from: Mapping[str, str] | None = None,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
        watch: Callable[[int, str], None] | None = None,
        **changes: Any,
    ) -> list[Translation]:
        """Translate lines, one `Translation` for each.

        Args:
            lines: the sources; blank ones give blank translations. For a model with features each is ("run", "V;PST"),
                or the two with a tab between them.
            options: how to search.
            constraints: on every translation, or on each; none if None.
            sampling: sample translations instead of searching for the best; None searches.
            num_samples: how many to sample per line; the first is the translation, the others are its alternatives.
            seed: of sampling; every sample of every line has a seed of its own that follows from it.
            unknowns_from: a dictionary, possibly empty, with which unknown words are replaced through attention; see
                `replace_unknowns`. None keeps them.
            batch_sentences: the most sentences in a batch.
            batch_tokens: the most source tokens in a batch, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what precedes a line's number in messages, such as ``file.txt:``.
            watch: called after each step of a search with the index of a line, from 0, and its most probable
                translation so far.
            changes: single search options, such as ``beam=10``; see `SearchOptions`.

        Raises:
            DataError: a line is longer than `max_length` tokens, has no features where the model takes them or the
                reverse, or the number of constraints is not that of lines.
            ConfigError: an option is unknown or out of range, or the vocabulary cannot spell a constraint.
        """
        refuse_text(lines, "translate")
        if changes:
            options = options.change(**changes)
        if sampling is not None:
            in_range("num_samples", num_samples, 1, 10_000)
        sources = self.parse_sources(lines, first_line, name)
        encoded = self.encode(sources, first_line, name)
        by_line: list[TokenConstraints] | None = None
        if constraints is not None:
            names = [f"{name}{number}" for number in range(first_line, first_line + len(sources))]
            by_line = encode_constraints(constraints, self.target_tokenizer, names)

        def translate_batch(members: list[int]) -> Iterator[Translation]:
            ids = [encoded[k] for k in members]
            of_batch = None if by_line is None else [by_line[k] for k in members]
            if sampling is None:
                observer = None if watch is None else self._observe(watch, members, sources, encoded)
                results = self.search(ids, options, of_batch, watch=observer)
            else:
                seeds = [[f"{seed} {first_line + k} {n}" for n in range(num_samples)] for k in members]
                results = sample_outputs(
                    *self._encode_batch(ids, of_batch), sampling, seeds, options, of_batch
                )
                results = self._aligned(ids, results)
            for k, result in zip(members, results, strict=True):
                translation = self._decode(sources[k], encoded[k], result.hypotheses)
                yield translation if unknowns_from is None else replace_unknowns(translation, unknowns_from)

        return predict_by_length(
            translate_batch,
            [len(ids) + 1 if ids else 0 for ids in encoded],
            [Translation.blank(source_text(line)) for line in sources],
            batch_sentences=batch_sentences,
            batch_tokens=batch_tokens,
        )

    def _observe(
        self,
        watch: Callable[[int, str], None],
        members: Sequence[int],
        sources: Sequence[Source],
        encoded: Sequence[Sequence[int]],
    ) -> Watch:
        """What passes the partial hypotheses of a batch, as text, to the one who watches the lines."""
        symbols = [self._unknown_symbols(sources[k], encoded[k]) for k in members]
        plain = self.target_tokenizer
        tokenizers = [plain.extend(of_line) if of_line else plain for of_line in symbols]
        return lambda b, ids: watch(members[b], tokenizers[b].decode(ids))

    def translate_stream(
        self, lines: Iterable[Source], *, chunk: int = CHUNK, **arguments: Any
    ) -> Iterator[Translation]:
        """Translate an endless stream in constant memory, `chunk` lines at a time; arguments as for `translate`."""
        return self.translate_groups(group_by_size(lines, chunk), **arguments)

    def translate_groups(
        self,
        groups: Iterable[Sequence[Source]],
        *,
        constraints: Constraints | Iterable[Constraints] | None = None,
        processes: Processes = ALONE,
        **arguments: Any,
    ) -> Iterator[Translation]:
        """Translate groups of lines as they come, in constant memory.

        Args:
            groups: lines to be searched together, such as those that have arrived.
            constraints: on every translation, or on each.
            processes: those that share the groups; see `predict_groups`.
            arguments: as for `translate`.
        """
        if constraints is None or isinstance(constraints, Constraints):
            same = constraints
            return predict_groups(
                lambda lines, first_line: self.translate(
                    lines, first_line=first_line, constraints=same, **arguments
                ),
                groups,
                processes,
            )
        # a line without constraints is paired with None, so that `translate` can name it
        each = chain(constraints, repeat(None))
        return predict_groups(
            lambda pairs, first_line: self.translate(
                [line for line, _ in pairs],
                first_line=first_line,
                constraints=[own for _, own in pairs if own is not None],
                **arguments,
            ),
            (list(zip(group, each, strict=False)) for group in groups),
            processes,
        )

    def align(
        self,
        sources: Sequence[Source],
        targets: Sequence[str],
        *,
        batch_sentences: int = 32,
        batch_tokens: int = 4000,
        first_line: int = 1,
        name: str = "line ",
        target_name: str = "target line ",
    ) -> list[Translation]:
        """Score given pairs by forced decoding: the model's probability and attention for these very words.

        Args:
            sources: one sentence per line, as `translate` takes them.
            targets: their translations, in the same order; a pair with a blank side gives a blank result.
            batch_sentences: the most pairs in a batch.
            batch_tokens: the most tokens of a side in a batch, padding counted.
            first_line: the number of the first pair, for messages about a part of a longer text.
            name: what precedes a line's number in messages, such as ``file.txt:``.
            target_name: the same for the targets.

        Raises:
            DataError: the sides differ in number, or a line is longer than `max_length` tokens.
        """
        if len(sources) != len(targets):
            raise DataError(
                f"{len(sources)} source lines and {len(targets)} target lines: give one of each for every sentence"
            )
        given = self.parse_sources(sources, first_line, name)
        pairs = self._encode_pairs(given, targets, first_line, name, target_name)

        def align_batch(members: list[int]) -> Iterator[Translation]:
            padded = pad_pairs([pairs[k] for k in members]).to(self.device)
            for k, hypothesis in zip(members, decode_forced(self.model, padded), strict=True):
                yield self._decode(given[k], pairs[k].source_ids, [hypothesis])

        return predict_by_length(
            align_batch,
            [pair.length if pair.source_ids and pair.target_ids else 0 for pair in pairs],
            [Translation.blank(source_text(line)) for line in given],
            batch_sentences=batch_sentences,
            batch_tokens=batch_tokens,
        )

    @takes_options(SearchOptions)
    def tree(self, line: Source, options: SearchOptions = DEFAULT_SEARCH, **changes: Any) -> SearchTree:
        """Translate a line and show the whole search; a blank line has none.

        Args:
            line: what to translate, as `translate` takes it.
            options: how to search.
            changes: single search options, such as ``beam=10``; see `SearchOptions`.

        Raises:
            DataError: the line is longer than `max_length` tokens.
            ConfigError: an option is unknown or out of range.
        """
        options = options.change(**changes)
        (source,) = self.parse_sources([line])
        (ids,) = self.encode([source])
        if not ids:
            return SearchTree(Translation.blank(source_text(source)), ())
        (result,) = self.search([ids], options, history=True)
        assert result.history is not None, "it was recorded"
        translation = self._decode(source, ids, result.hypotheses)
        tokenizer = self.target_tokenizer.extend(self._unknown_symbols(source, ids))
        return SearchTree(translation, decode_history(result.history, tokenizer))

    @takes_options(SearchOptions)
    def what_if(
        self,
        line: Source,
        options: SearchOptions = DEFAULT_SEARCH,
        *,
        attend: Mapping[int, str | int] | None = None,
        swap: Mapping[str | int, str] | None = None,
        prefix: str = "",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        **changes: Any,
    ) -> WhatIf:
        """Translate a line as it is, and once more under an intervention.

        Args:
            line: what to translate, as `translate` takes it; its features stay.
            options: how to search, both times.
            attend: target step, counted from 0 → the source token that gets all attention: a word of the line (after
                swapping), a feature, or the position of a token.
            swap: a word of the line, or its position among the words, counted from 0 → the word that replaces it.
            prefix: forced first words of the translation.
            include: phrases that must appear in it.
            exclude: phrases that may not.
            changes: single search options, such as ``beam=10``; see `SearchOptions`.

        Raises:
            ConfigError: there is no intervention; a word is not in the line, or more than once; attention is forced
                and the model has none; the vocabulary cannot spell a word; an option is unknown or out of range.
            DataError: the line is blank, or longer than `max_length` tokens.
        """
        options = options.change(**changes)
        constraints = Constraints(prefix, tuple(include), tuple(exclude))
        intervention = Intervention(attend or {}, swap or {}, constraints)
        (source,) = self.parse_sources([line])
        text = source_text(source)
        if not text.strip():
            raise DataError("what if: the line is blank; give it a word")
        if intervention.attend and not self.attends:
            raise ConfigError(
                "attend: this model has no attention to force; use a prefix or a swap, or train one whose decoder is "
                "of kind bahdanau, luong, hard-monotonic or deep-fusion"
            )
        swaps = intervention.swaps_by_position(text)
        new_text = swap_words(text, swaps)
        swapped = replace(source, text=new_text) if isinstance(source, FeaturedText) else new_text
        ids, swapped_ids = self.encode([source, swapped])
        source_tokenizer = self.source_tokenizer.extend(self._unknown_symbols(swapped, swapped_ids))
        forced = intervention.encode(str(swapped), swapped_ids, source_tokenizer, self.target_tokenizer)
        (before,) = self.search([ids], options)
        (after,) = self.search([swapped_ids], options, [forced])
        return WhatIf(
            self._decode(source, ids, before.hypotheses),
            self._decode(swapped, swapped_ids, after.hypotheses),
            forced.attend,
            constraints.prefix,
            swaps,
            constraints.include,
            constraints.exclude,
        )

    @takes_options(SearchOptions)
    def trace(
        self,
        line: Source,
        target: str | None = None,
        options: SearchOptions = GREEDY,
        *,
        letters: str = "papers",
        dtype: str = "float32",
        member: int | None = None,
        **changes: Any,
    ) -> Trace:
        """Everything that the model computes for a line, step by step: gates, energies, alpha, context, probabilities.

        Args:
            line: what to translate, as `translate` takes it.
            target: the translation whose words the decoder reads; None for the one that search finds.
            options: how to search; greedily, unless a beam is given.
            letters: whose letters the equations have, ``papers`` or ``slides``.
            dtype: ``float32``, or ``float64`` for a computation in double precision.
            member: of an ensemble, whose steps to show, counted from 0; the words are those of the ensemble.
            changes: single search options, such as ``beam=10``; see `SearchOptions`.

        Raises:
            ConfigError: the model is an ensemble and no member is given; an option is unknown or out of range.
            DataError: the line or the target is blank, or longer than `max_length` tokens.
        """
        model = self.single_model(member)
        options = options.change(**changes)
        (source,) = self.parse_sources([line])
        (ids,) = self.encode([source])
        if not ids:
            raise DataError("trace: the line is blank; give it a word")
        if target is None:
            (result,) = self.search([ids], options)
            hypothesis = result.best
        else:
            (pair,) = self._encode_pairs([source], [target])
            if not pair.target_ids:
                raise DataError("trace: the target is blank; give it a word, or leave it out")
            (hypothesis,) = decode_forced(self.model, pad_pairs([pair]).to(self.device))
        translation = self._decode(source, ids, [hypothesis])
        tokenizer = self.target_tokenizer.extend(self._unknown_symbols(source, ids))
        with traced_model(model, dtype) as traced:
            sections = trace_translation(
                traced, ids, hypothesis.ids, translation.source_tokens, tokenizer.tokens
            )
        return Trace(
            task=self.task,
            text=translation.source_line,
            tokens=translation.source_tokens,
            output=translation.text,
            output_tokens=translation.tokens,
            sections=tuple(sections),
            dtype=dtype,
            letters=letters,
        )

    @torch.inference_mode()
    def nearest_words(self, word: str, count: int = 8) -> list[tuple[str, float]]:
        """Source words whose embeddings are nearest to that of a word, each with its cosine, the nearest first.

        None where the vocabulary has no token for the whole word, or is of characters. Of an ensemble, the first
        model's embedding is used.

        Args:
            word: of the source language.
            count: the most words to return.
        """
        tokenizer = self.source_tokenizer
        ids = tokenizer.encode(word)
        if len(ids) != 1 or ids == [UNK] or tokenizer.kind == "char":
            return []
        vectors = torch.nn.functional.normalize(self.models[0].encoder.embedding.E.float(), dim=-1)
        cosines = vectors @ vectors[ids[0]]  # (Vx,)
        nearest: list[tuple[str, float]] = []
        for index in cosines.argsort(descending=True).tolist():
            other = tokenizer.decode([index])
            if index != ids[0] and index >= len(SPECIALS) and tokenizer.encode(other) == [index]:  # no piece
                nearest.append((other, float(cosines[index])))
            if len(nearest) == count:
                break
        return nearest

    def parse_sources(self, lines: Iterable[Any], first_line: int = 1, name: str = "line ") -> list[Source]:
        """The sources that were given, each with features if the model takes them, and without if it does not.

        Args:
            lines: texts, and pairs of a text and its features; for a model with features also a line with a tab
                between the two.
            first_line: the number of the first line, for the message.
            name: what precedes a line's number in the message.

        Raises:
            DataError: features are missing, or there are some that the model does not take.
        """
        sources: list[Source] = []
        for number, line in enumerate(lines, start=first_line):
            source = parse_source(line)
            if self.features and isinstance(source, str) and source.count("\t") == 1:
                text, _, features = source.partition("\t")
                source = FeaturedText(text, split_features(features))
            if self.features and isinstance(source, str) and source.strip():
                raise DataError(
                    f"{name}{number} ({source[:60]!r}): no features, and this model was trained with features "
                    f"({list_features(self.features)}); give them after a tab, or with --features; in Python as "
                    '("run", "V;PST")'
                )
            if isinstance(source, FeaturedText) and not self.features:
                raise DataError(
                    f"{name}{number} ({str(source)[:60]!r}): features ({list_features(source.features)}), and this "
                    "model was trained without; give the text alone"
                )
            sources.append(source)
        return sources

    def encode(self, lines: Sequence[Source], first_line: int = 1, name: str = "line ") -> list[list[int]]:
        """The source ids of each line, without EOS; none of a blank line.

        For a model that copies, a stretch that the vocabulary does not have has an id from the vocabulary's size on.

        Args:
            lines: the sources; see `parse_sources`.
            first_line: the number of the first line, for the message.
            name: what precedes a line's number in the message.

        Raises:
            TooLongError: a line is longer than `max_length` tokens.
        """
        encoded = self._encode(lines, self.source_tokenizer, first_line, name)
        if not self.copies:
            return encoded
        return [
            self.source_tokenizer.encode_unknowns(line)[0] if UNK in ids else ids
            for line, ids in zip(lines, encoded, strict=True)
        ]

    def encode_targets(
        self, lines: Sequence[str], first_line: int = 1, name: str = "target line "
    ) -> list[list[int]]:
        """The target ids of each line, as `encode` gives those of sources."""
        return self._encode(lines, self.target_tokenizer, first_line, name)

    def _encode_pairs(
        self,
        sources: Sequence[Source],
        targets: Sequence[str],
        first_line: int = 1,
        name: str = "line ",
        target_name: str = "target line ",
    ) -> list[EncodedPair]:
        """Sources with their given targets; arguments as for `align`."""
        pairs = []
        for source, target, source_ids, target_ids in zip(
            sources,
            targets,
            self.encode(sources, first_line, name),
            self.encode_targets(targets, first_line, target_name),
            strict=True,
        ):
            symbols = self._unknown_symbols(source, source_ids)
            if symbols and target_ids:
                target_ids, _ = self.target_tokenizer.encode_unknowns(target, symbols)
            pairs.append(EncodedPair(source_ids, target_ids))
        return pairs

    def _encode(
        self, lines: Sequence[Source], tokenizer: Tokenizer, first_line: int, name: str
    ) -> list[list[int]]:
        # a character model has a token for each blank
        encoded = [
            ids if source_text(line).strip() else []
            for line, ids in zip(lines, tokenizer.encode_batch(lines), strict=True)
        ]
        refuse_too_long(
            [source_text(line) for line in lines],
            [len(ids) for ids in encoded],
            self.max_length,
            first_line=first_line,
            name=name,
        )
        return encoded

    def _unknown_symbols(self, source: Source, source_ids: Sequence[int]) -> tuple[str, ...]:
        """The stretches of a source that its ids from the vocabulary's size on stand for; see `encode`."""
        if max(source_ids, default=0) < self.source_tokenizer.size:
            return ()
        return self.source_tokenizer.encode_unknowns(source)[1]

    @torch.inference_mode()
    def search(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions = DEFAULT_SEARCH,
        constraints: Sequence[TokenConstraints] | None = None,
        *,
        history: bool = False,
        watch: Watch | None = None,
    ) -> list[SearchResult]:
        """Search for the translations of some sentences in one batch.

        Args:
            sources: their ids, none empty.
            options: how to search.
            constraints: on each sentence.
            history: whether to record the search.
            watch: called after each step; see `regard.search.beam.search`.
        """
        decoder, encoded = self._encode_batch(sources, constraints)
        results = search(decoder, encoded, options, constraints, history=history, watch=watch)
        return self._aligned(sources, results)

    def _aligned(
        self, sources: Sequence[Sequence[int]], results: Sequence[SearchResult]
    ) -> list[SearchResult]:
        """The results with every hypothesis' alignment, by forced decoding, if the model has an alignment attention."""
        if not self.aligns:
            return list(results)
        pairs = [
            EncodedPair(list(ids), list(hypothesis.ids[:-1]))
            for ids, result in zip(sources, results, strict=True)
            for hypothesis in result.hypotheses
        ]
        forced = iter(decode_forced(self.model, pad_pairs(pairs).to(self.device)))
        return [
            replace(
                result,
                hypotheses=tuple(
                    replace(hypothesis, alignment=next(forced).alignment) for hypothesis in result.hypotheses
                ),
            )
            for result in results
        ]

    @torch.inference_mode()
    def _encode_batch(
        self, sources: Sequence[Sequence[int]], constraints: Sequence[TokenConstraints] | None
    ) -> tuple[Any, Any]:
        """The decoder to step, and the encoded sources."""
        model = self._packed.model()
        if self.shortlist is not None:
            required: Sequence[tuple[tuple[int, ...], ...]] = [()] * len(sources)
            if constraints is not None:
                required = [(each.prefix, *each.include) for each in constraints]
            lists = [
                self.shortlist.words_for(ids, phrases) for ids, phrases in zip(sources, required, strict=True)
            ]
            model = with_shortlists(model, lists, self.device)
        batch = pad_sources(sources).to(self.device)
        return model.decoder, model.encode(batch.source_ids, batch.source_mask)

    def _decode(
        self, source: Source, source_ids: Sequence[int], hypotheses: Sequence[Hypothesis]
    ) -> Translation:
        """The first hypothesis as a translation, the others as its alternatives.

        Args:
            source: the line, with its features.
            source_ids: its ids, without EOS.
            hypotheses: at least one, best first.
        """
        whole_source = [*source_ids, EOS]
        symbols = self._unknown_symbols(source, source_ids)
        source_tokenizer, target_tokenizer = (
            tokenizer.extend(symbols) if symbols else tokenizer
            for tokenizer in (self.source_tokenizer, self.target_tokenizer)
        )
        source_tokens = tuple(source_tokenizer.tokens(whole_source))
        source_words = tuple(source_tokenizer.words(whole_source))
        best, *others = [
            Translation(
                source=source_text(source),
                text=target_tokenizer.decode(h.ids),
                source_tokens=source_tokens,
                tokens=tuple(target_tokenizer.tokens(h.ids)),
                score=h.score,
                log_prob=h.log_prob,
                token_log_probs=h.token_log_probs,
                alpha=h.alpha,
                alignment=h.alignment,
                source_words=source_words,
                target_words=tuple(target_tokenizer.words(h.ids)),
                features=source.features if isinstance(source, FeaturedText) else (),
                source_characters=self.source_tokenizer.kind == "char",
                target_characters=self.target_tokenizer.kind == "char",
            )
            for h in hypotheses
        ]
        return replace(best, alternatives=tuple(others))
