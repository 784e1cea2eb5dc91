"""The one door to searching: a decoder and encoded sources in, for each sentence what was found out."""

from collections.abc import Sequence

from regard.errors import ConfigError
from regard.models.state import EncodedSource
from regard.search.beam import beam
from regard.search.found import Found
from regard.search.options import SearchOptions
from regard.search.request import Request
from regard.search.stepper import Stepper


def find(
    decoder: Stepper,
    encoded: EncodedSource,
    options: SearchOptions | None = None,
    requests: Sequence[Request] | None = None,
    *,
    history: bool = False,
) -> list[Found]:
    """Search for the best outputs of every sentence.

    Args:
        decoder: the model's decoder, or anything that steps like one.
        encoded: the sources, B of them.
        options: how to search.
        requests: what is asked of each sentence's output, B of them; None for nothing.
        history: whether to record every hypothesis that had a place in the beam, and those that nearly had.

    Raises:
        ConfigError: there is not one request for each sentence; one cannot be met within the limit; or it asks for
            attention, or the options for coverage, and the model does not attend.
    """
    options = options or SearchOptions()
    if requests is not None and len(requests) != len(encoded.mask):
        raise ConfigError(f"{len(requests)} requests for {len(encoded.mask)} sentences; give one for each")
    return beam(decoder, encoded, options, requests, history=history)
