"""One alignment out of two directions.

In: the links of a source→target model and those of a target→source model, both as (source, target). Out: one
set of links. The growing heuristics are those of Koehn, Och & Marcu (2003): start from what both directions
agree on, then add neighbours that only one of them has.
"""

from collections.abc import Callable

from regard.output.alignment.links import in_order
from regard.text.links import Link, Links

# Beside, above, below first; then the diagonals. The order decides between rivals.
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def flip(links: Links) -> Links:
    """Turn (a, b) into (b, a): what a target→source model says, as (source, target)."""
    return frozenset((j, i) for i, j in links)


def intersection(forward: Links, backward: Links) -> Links:
    """Keep the links both directions have: few, and mostly right."""
    return forward & backward


def union(forward: Links, backward: Links) -> Links:
    """Keep the links either direction has: many, and some wrong."""
    return forward | backward


def grow_diag(forward: Links, backward: Links) -> Links:
    """Grow the intersection through neighbours, diagonal ones too, that lie in the union.

    A neighbour is added when its source word or its target word has no link yet; the links added count at
    once. Passes go by target word and then by source word, until one adds nothing.
    """
    return frozenset(_grow(forward, backward))


def grow_diag_final(forward: Links, backward: Links) -> Links:
    """Add to `grow_diag` each direction's links of which one word *or* the other is still free."""
    grown = _grow(forward, backward)
    for link in (*in_order(forward), *in_order(backward)):
        if _source_free(link, grown) or _target_free(link, grown):
            grown.add(link)
    return frozenset(grown)


def grow_diag_final_and(forward: Links, backward: Links) -> Links:
    """Add to `grow_diag` each direction's links of which one word *and* the other are still free."""
    grown = _grow(forward, backward)
    for link in (*in_order(forward), *in_order(backward)):
        if _source_free(link, grown) and _target_free(link, grown):
            grown.add(link)
    return frozenset(grown)


SYMMETRIZERS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": intersection,
    "union": union,
    "grow-diag": grow_diag,
    "grow-diag-final": grow_diag_final,
    "grow-diag-final-and": grow_diag_final_and,
}


def _grow(forward: Links, backward: Links) -> set[Link]:
    either = forward | backward
    ordered = in_order(either)
    grown = set(forward & backward)
    size = -1
    while len(grown) != size:
        size = len(grown)
        for link in ordered:
            if link not in grown:
                continue
            for right, down in _NEIGHBOURS:
                near = (link[0] + right, link[1] + down)
                if near in either and (_source_free(near, grown) or _target_free(near, grown)):
                    grown.add(near)
    return grown


def _source_free(link: Link, taken: set[Link]) -> bool:
    return all(j != link[0] for j, _ in taken)


def _target_free(link: Link, taken: set[Link]) -> bool:
    return all(i != link[1] for _, i in taken)
