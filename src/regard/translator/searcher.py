"""A model with its two tokenizers, one batch at a time: ids in, what was found out.

Search steps a frozen copy of the model, and where there is a shortlist only the words that the batch can need.
"""

from collections.abc import Sequence
from typing import Any

import torch

from regard.batches import pad_sources
from regard.device import find_device
from regard.models import Seq2Seq
from regard.models.ensemble import Ensemble
from regard.models.shortlisted import shortlisted
from regard.ops.native import Precision
from regard.output.translation import Translation
from regard.search import Found, Hypothesis, Request, SearchOptions, draw, find
from regard.shortlist import Shortlist
from regard.text import Tokenizer
from regard.translator.frozen import FrozenCopy
from regard.translator.reading import read_sources
from regard.translator.rendering import rendered
from regard.translator.searching import Sampling


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
        self._frozen = FrozenCopy(model, precision)
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
    def find(
        self,
        sources: Sequence[Sequence[int]],
        options: SearchOptions,
        requests: Sequence[Request] | None = None,
        *,
        history: bool = False,
    ) -> list[Found]:
        """Search for the translations of some sentences in one batch.

        Args:
            sources: their ids, none empty.
            options: how to search.
            requests: what is asked of each.
            history: whether to record the search.
        """
        decoder, encoded = self._read(sources, requests)
        return find(decoder, encoded, options, requests, history=history)

    @torch.inference_mode()
    def draw(
        self,
        sources: Sequence[Sequence[int]],
        sampling: Sampling,
        numbers: Sequence[int],
        options: SearchOptions,
        requests: Sequence[Request] | None = None,
    ) -> list[Found]:
        """Draw translations of some sentences in one batch.

        Args:
            sources: their ids, none empty.
            sampling: how to draw, and how many of each.
            numbers: of each sentence, so that its draws are its own.
            options: the limits, and what may not be chosen.
            requests: what is asked of each.
        """
        decoder, encoded = self._read(sources, requests)
        seeds = [sampling.seeds(number) for number in numbers]
        return draw(decoder, encoded, sampling.drawing, seeds, options, requests)

    def _read(self, sources: Sequence[Sequence[int]], requests: Sequence[Request] | None) -> tuple[Any, Any]:
        """The decoder to step, and the sources it steps over."""
        model = self._frozen.model()
        if self.shortlist is not None:
            asked = (
                [()] * len(sources)
                if requests is None
                else [(each.prefix, *each.include) for each in requests]
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
