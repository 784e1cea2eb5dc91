"""List words that the code no longer uses: as identifiers (an error) and as archaic phrases in prose (a hint).

    python tools/words.py            # identifiers; exit status 1 if one is left
    python tools/words.py --prose    # also every line of prose with an archaic phrase

Identifiers are names in Python code: definitions, parameters, attributes, variables, imports. Prose is Markdown text,
docstrings, other strings and comments. The replacement of each word is part of the message.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tests", "benchmarks", "examples", "tools")

NAMES = {
    "Wish": "Constraints", "Wishes": "Constraints", "Request": "TokenConstraints", "Requests": "constraints",
    "request": "constraints", "requests": "constraints", "Asked": "Intervention", "asked": "args, options",
    "ASKED": "args, options", "Told": "forced, constrained", "told": "forced, constrained", "Searcher": "",
    "Searching": "", "searching": "search", "Seen": "", "Looking": "ForcedAttention", "looking": "forced attention",
    "LOOKING": "forced attention", "looking_at": "forced attention", "Likeliest": "TopK", "Columns": "VocabularyMap",
    "Found": "SearchResult", "Drawing": "SamplingOptions (of words), Figure (of plots)", "Drawings": "figures",
    "Beginning": "PartialHypothesis", "beginning": "partial hypothesis, prefix", "Quick": "FusedStep",
    "QuickStep": "FusedStep", "FrozenCopy": "packed copy", "freeze": "pack", "Freeze": "pack", "aside":
    "train_valid_split", "part_off": "train_valid_split", "parted": "split", "Writer": "LanguageModel",
    "Description": "Caption", "Descriptions": "captions", "descriptions": "captions", "describe": "caption",
    "Describe": "caption", "describes": "caption", "TextClassifier": "Classifier", "TextTagger": "Tagger",
    "follow": "score", "Followed": "Scored", "followed": "scored", "rate": "learning_rate", "gap": "exposure_gap",
    "world": "dataset", "World": "dataset", "worlds": "datasets", "Worlds": "datasets", "WORLDS": "DATASETS",
    "company": "batch", "whoever": "", "room": "folder, scratch buffer", "verb": "command", "Verb": "command",
    "verbs": "commands", "VERBS": "COMMANDS", "voice": "log", "Voice": "log",
}  # fmt: skip
"""Names that are not used any more, and what to write; empty where the thing itself is gone."""
PARTS = {
    "wish": "constraints", "wishes": "constraints", "likeliest": "top-k, most probable", "rival": "alternative",
    "rivals": "alternatives", "thaw": "unfreeze", "thaws": "unfreezes", "thawed": "unfrozen", "thawing": "unfreezing",
    "journal": "log", "teaching": "auxiliary losses", "describer": "captioner", "describers": "captioners",
    "searcher": "", "frozencopy": "packed copy",
}  # fmt: skip
"""Words that are not used as a part of any name (``_rivals``, ``JOURNAL``, ``test_a_wish``)."""
DEFINITIONS = {"find": "search", "draw": "sample (of words), plot_… (of figures)"}
"""Names that only other libraries may define: ``str.find`` may be called."""

LINGUISTIC = {"verb", "Verb", "verbs", "VERBS", "voice", "Voice"}
ALLOWED: dict[str, set[str]] = {
    "src/regard/datasets": LINGUISTIC,  # parts of speech and the voices of a verb
    "tests/datasets": LINGUISTIC,
    "src/regard/ops": {"room", "asked", "reach"},  # redesigned later
    "src/regard/plots": {"room", "gap", "draw"},  # free space of a figure
    "src/regard/lab": {"draw"},
    "tests/plots": {"room", "gap", "draw"},
    "tests": {"request"},  # a fixture of pytest
    "tools/words.py": {*NAMES, *PARTS},
}
"""Where a word keeps another meaning, by the beginning of a path."""

PHRASES = (
    r"so many", r"so much as", r"by lot", r"for who\b", r"whoever", r"no number", r"rivals?\b", r"\bcompany\b",
    r"\broom\b", r"\bworlds?\b", r"likewise", r"\bstands?\b", r"\bstood\b", r"such as gives", r"likeliest", r"\btold\b",
    r"\bwish", r"\bverbs?\b", r"\bmoods?\b", r"\bjournal", r"\bthaw", r"\baside\b", r"\blearnt\b", r"\bwere nothing",
    r"\banew\b", r"of one's own", r"of its own", r"\bless ``", r"\bdescribers?\b", r"\bby another road",
    r"\broads?\b", r"the way back", r"\bhands? (on|out|down)\b", r"\basked\b", r"\btells?\b", r"\bnobody\b",
    r"\bbeginnings?\b", r"\bthe least\b", r"\bthe greatest\b", r"\bquick(er|est|ly)?\b", r"\bfrozen\b", r"\bparted\b",
    r"\bvoices?\b", r"\bput out\b", r"\bwho wants\b", r"\bis no\b", r"\bare no\b", r"\bbut for\b", r"\bin sight\b",
    r"(once|twice|products?|numbers?|tokens|words|rows?|sentences|ms|milliseconds|seconds|floats|calls) a "
    r"(word|sentence|step|second|side|batch|hypothesis|line|row|slot|weight|position|program)\b",
)  # fmt: skip
PHRASE = re.compile("|".join(PHRASES), re.IGNORECASE)


class Word(NamedTuple):
    """An occurrence: ``path:line``, the word, and the remedy or the line of prose."""

    path: str
    line: int
    word: str
    text: str

    def __str__(self) -> str:
        """As one line of output."""
        return f"{self.path}:{self.line}: {self.word}: {self.text}"


def python_files() -> Iterator[Path]:
    """Every Python file of the repository's own folders."""
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def names_of(tree: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Every name in a module, its line, and whether it is defined there."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, line, True
        elif isinstance(node, ast.Name):
            yield node.id, line, False
        elif isinstance(node, ast.Attribute):
            yield node.attr, line, False
        elif isinstance(node, ast.arg):
            yield node.arg, line, True
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg, node.value.lineno, False
        elif isinstance(node, ast.alias):
            for name in (*node.name.split("."), node.asname or ""):
                yield name, line, False


def parts(name: str) -> list[str]:
    """The words of a name in snake or camel case, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def remedy(name: str, defined: bool, allowed: set[str]) -> str | None:
    """What to write instead of a name; None where the name is in use."""
    if name in allowed:
        return None
    if name in NAMES:
        return NAMES[name]
    if defined and name in DEFINITIONS:
        return DEFINITIONS[name]
    return next((PARTS[word] for word in parts(name) if word in PARTS and word not in allowed), None)


def identifiers() -> list[Word]:
    """Every identifier that should not be used any more."""
    words = []
    for path in python_files():
        place = path.relative_to(ROOT).as_posix()
        allowed = set().union(*(names for start, names in ALLOWED.items() if place.startswith(start)))
        for name, line, defined in names_of(ast.parse(path.read_text(encoding="utf-8"))):
            instead = remedy(name, defined, allowed)
            if instead is not None:
                words.append(Word(place, line, name, f"write {instead}" if instead else "is gone"))
    return sorted(set(words))


def prose() -> list[Word]:
    """Every line of prose with an archaic phrase."""
    words = []
    for path in (
        sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")) + sorted(ROOT.glob("src/**/*.md"))
    ):
        place = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words += [Word(place, number, hit[0], line.strip()[:110]) for hit in PHRASE.finditer(line)]
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for path in python_files():
        place = path.relative_to(ROOT).as_posix()
        if place == "tools/words.py":
            continue
        text = path.read_text(encoding="utf-8")
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in kinds:
                for offset, line in enumerate(token.string.splitlines()):
                    hits = PHRASE.finditer(line)
                    words += [
                        Word(place, token.start[0] + offset, hit[0], line.strip()[:110]) for hit in hits
                    ]
    return words


def main() -> int:
    """Print what is left; the exit status is 1 if an identifier is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--prose", action="store_true", help="list archaic phrases in prose, too")
    args = parser.parse_args()
    left = identifiers()
    for word in left:
        print(word)
    print(f"{len(left)} identifiers to rename")
    if args.prose:
        phrases = prose()
        for word in phrases:
            print(word)
        counts = Counter(word.word.lower() for word in phrases)
        print(
            f"{len(phrases)} phrases: " + ", ".join(f"{word} {count}" for word, count in counts.most_common())
        )
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
