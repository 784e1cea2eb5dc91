"""One HTML file that holds the studio's page and the answers for one text: it stays interactive without a service.

In: a model and a text. Out: the page, its style and modules inside, and every answer that its views ask for; what-ifs
are recorded for the most probable other words and the nearest source words. The modules are joined into one: each name
at the top of a module is unique in the folder, and a test sees to it.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from regard.errors import ConfigError, RegardError
from regard.server.config import Limits
from regard.server.guards import to_json_text
from regard.server.registry import ServedModel
from regard.version import __version__

PAGE = Path(str(files("regard.studio"))) / "page"
"""The folder that is served at ``/``."""

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
_OTHER_WORDS = 3  # recorded what-ifs of each word

Recording = tuple[str, dict[str, Any], Any]
"""An operation, the body of a request, and its answer."""


def join_modules(name: str = "main.js") -> str:
    """A module with all that it imports, as one: dependencies first, imports and the word export taken out."""
    joined: dict[str, str] = {}

    def add(module: str) -> None:
        text = (PAGE / module).read_text(encoding="utf-8")
        for other in _IMPORT.findall(text):
            if other not in joined:
                add(other)
        code = _IMPORT.sub("", text)
        joined[module] = re.sub(r"^export ", "", code, flags=re.MULTILINE)

    add(name)
    return "\n".join(joined.values())


@cache
def offline_page() -> str:
    """The page with style and script inside, and an empty place for what was recorded."""
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    style = (PAGE / "studio.css").read_text(encoding="utf-8")
    page = re.sub(r"<link rel=.*?>\n", "", page)
    page = page.replace(
        '<meta charset="utf-8">',
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
    )
    page = page.replace('<script type="module" src="main.js"></script>', f"<style>\n{style}</style>")
    script = (
        '<script type="application/json" id="recorded"></script>\n'
        f'<script type="module" data-page>\n{join_modules()}</script>\n</body>'
    )
    return page.replace("</body>", script)


def render_offline(state: dict[str, Any], recordings: list[Recording]) -> str:
    """The page with its recordings.

    Args:
        state: the text, the model's name, the view and the options, as the page starts with them.
        recordings: what it can answer.
    """
    data = to_json_text({"state": state, "recordings": recordings}).replace("<", "\\u003c")
    empty = 'id="recorded">'
    return offline_page().replace(empty, empty + data, 1)


def explain(model: ServedModel, text: str, *, beam: int = 5, letters: str = "papers") -> str:
    """The page of one text.

    Args:
        model: of any task that reads text.
        text: what it reads; two texts of a classifier of pairs, or of an aligner, with a bar between.
        beam: of a translator's search.
        letters: whose letters the equations have, ``papers`` or ``slides``.

    Raises:
        RegardError: the model cannot read the text.
    """
    limits = Limits()
    task = model.predictor.task
    if not text.strip() and task != "language_model":
        raise ConfigError("explain: the text is blank; give it a word")
    recordings: list[Recording] = [
        ("models", {}, {"models": [model.to_json()], "limits": vars(limits), "regard": __version__})
    ]
    target = ""
    if task == "align":
        text, bar, target = (part.strip() for part in text.partition("|"))
        if not (bar and text and target):
            raise ConfigError(
                "explain: an aligner reads two texts; write them with a bar between, 'a house | une maison'"
            )
        recordings.append(
            _ask(
                model,
                limits,
                "align",
                {"model": model.name, "sources": text, "targets": target, "alpha": True},
            )
        )
    else:
        recordings += _record_all(model, limits, text, beam, letters)
    state = {
        "text": text,
        "model": model.name,
        "view": None,
        "beam": beam,
        "letters": letters,
        "target": target,
    }
    return render_offline(state, recordings)


def _ask(model: ServedModel, limits: Limits, name: str, body: dict[str, Any]) -> Recording:
    """What a route would answer."""
    operation = model.operations[name]
    parsed = operation.body.model_validate(body)
    prepared = operation.prepare(parsed, limits)
    (result,) = operation.compute(model.predictor, prepared.options, prepared.items, [1], None)
    return name, body, json.loads(to_json_text(operation.to_json(result, parsed)))


def _record_all(
    model: ServedModel, limits: Limits, text: str, beam: int, letters: str
) -> Iterator[Recording]:
    task, name = model.predictor.task, {"model": model.name}
    parts = [part.strip() for part in text.split("|")]
    read: Any = parts if task == "classify" and len(parts) == 2 and all(parts) else text
    traced = {**name, "text": read, "letters": letters}
    match task:
        case "translate":
            options = {"beam": beam, "n_best": beam}
            yield _ask(model, limits, "translate", {**name, "texts": text, "options": options, "alpha": True})
            tree = _ask(model, limits, "tree", {**name, "text": text, "options": options})
            yield tree
            pair = {"sources": text, "targets": tree[2]["text"], "alpha": True}
            yield from _record_if_possible(model, limits, "align", {**name, **pair})
            members = len(model.predictor.models)
            for member in range(members):
                of_ensemble = {"member": member} if members > 1 else {}
                yield _ask(model, limits, "trace", {**traced, "beam": beam, **of_ensemble})
            yield from _record_what_ifs(model, limits, {**name, "text": text, "options": options}, tree[2])
            return
        case "classify":
            yield _ask(model, limits, "classify", {**name, "texts": [read]})
        case "tag":
            yield _ask(model, limits, "tag", {**name, "texts": text})
        case "language_model":
            body = {"prompt": text, "count": 1, "seed": 1, "max_length": 60, "alternatives": 7}
            options = {"temperature": 1, "top_p": 1}
            yield _ask(model, limits, "sample", {**name, **body, "options": options})
    if text.strip() and len(model.predictor.models) == 1:
        yield _ask(model, limits, "trace", traced)


def _record_what_ifs(
    model: ServedModel, limits: Limits, base: dict[str, Any], tree: dict[str, Any]
) -> Iterator[Recording]:
    """Other target words and other source words, as far as the vocabulary can spell them."""
    if "characters" in tree["link_units"]:
        return
    none: dict[str, Any] = {"swap": {}, "attend": {}, "prefix": ""}
    nodes = {node["id"]: node for step in tree["steps"] for node in step}
    ends = [node for node in nodes.values() if node["fate"] == "finished"]
    node = max(ends, key=lambda end: end["score"], default=None)
    path: list[dict[str, Any]] = []
    while node is not None:
        path.insert(0, node)
        node = nodes.get(node["parent"])
    words = tree["text"].split()
    for k in range(len(words)):
        step = path[tree["target_words"].index(k)]
        others = [each["token"].removeprefix("▁") for each in step["alternatives"]]
        for other in [each for each in others if each != words[k] and not each.startswith("<")][
            :_OTHER_WORDS
        ]:
            prefix = " ".join([*words[:k], other])
            yield from _record_if_possible(model, limits, "what-if", {**base, **none, "prefix": prefix})
    for k, word in enumerate(base["text"].split()):
        body = {"model": base["model"], "word": word, "count": 6}
        for recording in _record_if_possible(model, limits, "nearest", body):
            yield recording
            for other, _ in recording[2]["words"][:_OTHER_WORDS]:
                body = {**base, **none, "swap": {str(k): other}}
                yield from _record_if_possible(model, limits, "what-if", body)


def _record_if_possible(
    model: ServedModel, limits: Limits, name: str, body: dict[str, Any]
) -> Iterator[Recording]:
    try:
        yield _ask(model, limits, name, body)
    except RegardError:
        return  # the page offers only what was recorded
