"""The one door to searching: a decoder and encoded sources in, for each sentence what was found out."""

from collections.abc import Sequence

from regard.models.state import EncodedSource
from regard.search.beam import beam
from regard.search.found import Found
from regard.search.greedy import Stepper, greedy
from regard.search.options import SearchOptions
from regard.search.request import Request


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
        history: whether to record every hypothesis that had a place in the beam.
    """
    options = options or SearchOptions()
    power = 0.0 if options.length_penalty == "none" else options.length_power
    if options.beam == 1:
        return [Found((one,)) for one in greedy(decoder, encoded, limit=options.limit, length_power=power)]
    return [
        Found(tuple(each))
        for each in beam(
            decoder,
            encoded,
            width=options.beam,
            n_best=options.n_best,
            limit=options.limit,
            length_power=power,
        )
    ]
