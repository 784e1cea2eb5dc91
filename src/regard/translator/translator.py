"""Lines in, `Translation`s out.

Knows tokenizers, batches, search and output, and nothing of training. Sentences are sorted by length behind the
scenes and come back in order; a blank line gives a blank translation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from regard.batches import in_order_of_length, pad_pairs
from regard.errors import DataError
from regard.models.ensemble import Combination, Ensemble
from regard.ops.native import Precision
from regard.output.search_tree import SearchTree
from regard.output.translation import Translation
from regard.output.unknowns import replace_unknowns
from regard.output.what_if import WhatIf
from regard.search import SearchOptions, forced
from regard.shortlist import Shortlist
from regard.text import EncodedPair
from regard.translator.asked import Asked
from regard.translator.loading import load_models
from regard.translator.reading import TooLongError, read_ids
from regard.translator.searcher import Searcher
from regard.translator.searching import Sampling, Searching
from regard.translator.seen import search_tree
from regard.translator.what_if import ask
from regard.translator.wish import Wish, requests_of


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
        wishes: Wish | Sequence[Wish] | None = None,
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
            wishes: what is asked of every translation, or of each; nothing if None.
            sampling: draw translations instead of searching for the best; None searches.
            unknowns_from: a dictionary, perhaps an empty one, with which unknown words are replaced through attention;
                see `replace_unknowns`. None leaves them.
            batch_sentences: the most sentences searched at a time.
            batch_tokens: the most source tokens searched at a time, padding counted.
            first_line: the number of the first line, for messages about a part of a longer text.
            name: what stands before a line's number in messages, such as ``file.txt:``.
            changes: single options of the search, such as ``beam=10``.

        Raises:
            DataError: a line is longer than `max_length` tokens, or there are not as many wishes as lines.
            ConfigError: an option is out of range, or a wish cannot be spelt.
        """
        if isinstance(lines, str):
            raise DataError(f"translate takes a list of lines, not one text: translate([{lines[:40]!r}])")
        search = replace(options or SearchOptions(), **changes)
        sources = list(lines)
        encoded = self.encode(sources, first_line, name)
        places = [f"{name}{number}" for number in range(first_line, first_line + len(sources))]
        requests = None if wishes is None else requests_of(wishes, self.target_tokenizer, places)
        translations = [Translation.blank(line) for line in sources]
        real = [k for k, ids in enumerate(encoded) if ids]
        lengths = [len(encoded[k]) + 1 for k in real]
        for batch in in_order_of_length(lengths, batch_sentences, batch_tokens):
            chosen = [real[k] for k in batch]
            asked = None if requests is None else [requests[k] for k in chosen]
            ids = [encoded[k] for k in chosen]
            if sampling is None:
                found = self.find(ids, search, asked)
            else:
                found = self.draw(ids, sampling, [first_line + k for k in chosen], search, asked)
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
        wishes: Wish | Iterable[Wish] | None = None,
        **options: Any,
    ) -> Iterator[Translation]:
        """Translate groups of lines as they come, in constant memory.

        Args:
            groups: lines to be searched together, such as those that have arrived.
            wishes: what is asked of every translation, or of each.
            options: as for `translate`.
        """
        first_line = 1
        same = wishes if wishes is None or isinstance(wishes, Wish) else None
        each = iter(() if wishes is None or isinstance(wishes, Wish) else wishes)
        for group in groups:
            asked = same if same is wishes else tuple(islice(each, len(group)))
            try:
                yield from self.translate(group, wishes=asked, first_line=first_line, **options)
            except TooLongError as error:  # what stands before it is not lost
                before = asked[: error.place] if isinstance(asked, tuple) else asked
                yield from self.translate(
                    group[: error.place], wishes=before, first_line=first_line, **options
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
        for batch in in_order_of_length(lengths, batch_sentences, batch_tokens):
            chosen = [real[k] for k in batch]
            padded = pad_pairs([pairs[k] for k in chosen]).to(self.device)
            for k, hypothesis in zip(chosen, forced(self.model, padded), strict=True):
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
        asked = Asked(attend or {}, swap or {}, Wish(prefix, tuple(include), tuple(exclude)))
        return ask(self, line, asked, replace(options or SearchOptions(), **changes))
