"""A line → its translation with all that the search went through, in words."""

from typing import TYPE_CHECKING

from regard.output.search_tree import Beginning, SearchTree
from regard.output.translation import Translation
from regard.search import History, Node, SearchOptions
from regard.text import Tokenizer

if TYPE_CHECKING:
    from regard.translator.translator import Translator


def search_tree(translator: "Translator", line: str, options: SearchOptions) -> SearchTree:
    """Translate a line and keep the search's record; a blank line has none.

    Args:
        translator: whose search.
        line: what to translate.
        options: how to search.
    """
    (ids,) = translator.encode([line])
    if not ids:
        return SearchTree(Translation.blank(line), ())
    (found,) = translator.find([ids], options, history=True)
    assert found.history is not None, "it was asked for"
    translation = translator.rendered(line, ids, found.hypotheses)
    return SearchTree(translation, in_words(found.history, translator.target_tokenizer))


def in_words(history: History, tokenizer: Tokenizer) -> tuple[tuple[Beginning, ...], ...]:
    """A search's record, its ids become words of the target.

    Args:
        history: what the search recorded.
        tokenizer: the target's.
    """
    return tuple(tuple(_beginning(node, tokenizer) for node in step) for step in history.steps)


def _beginning(node: Node, tokenizer: Tokenizer) -> Beginning:
    token, *others = tokenizer.tokens([node.token, *(rival.id for rival in node.alternatives)])
    log_probs = [rival.log_prob for rival in node.alternatives]
    return Beginning(
        node.id,
        node.parent,
        token,
        node.log_prob,
        node.total,
        node.score,
        node.fate,
        tuple(zip(others, log_probs, strict=True)),
        node.alpha,
    )
