"""List words that the code no longer uses: as identifiers (an error), and in prose or as vague names (a hint).

    python tools/words.py [PATH …]            # identifiers; exit status 1 if one is left
    python tools/words.py --prose [PATH …]    # also archaic phrases in prose, and vague names such as `found`

Identifiers are names in Python code: definitions, parameters, attributes, variables, imports; and the flags of the
command line, ``--like-this``. Prose is Markdown text, docstrings, other strings and comments. The replacement of each
word is part of the message. PATHs restrict the list to files and folders.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tests", "benchmarks", "examples", "tools")

NAMES = {
    "Wish": "Constraints", "Wishes": "Constraints", "Request": "TokenConstraints", "Requests": "constraints",
    "request": "constraints", "requests": "constraints", "Asked": "Intervention", "asked": "args, options",
    "ASKED": "args, options", "Told": "forced, constrained", "told": "forced, constrained, args, printed",
    "Searching": "SearchOptions", "searching": "search", "Seen": "", "Looking": "ForcedAttention",
    "looking": "forced attention", "LOOKING": "forced attention", "looking_at": "forced attention",
    "Columns": "VocabularyMap", "Found": "SearchResult", "Drawing": "SamplingOptions (of words), Figure (of plots)",
    "Drawings": "figures", "Beginning": "PartialHypothesis", "beginning": "partial hypothesis, prefix",
    "beginnings": "partial hypotheses, prefixes", "freeze": "pack", "Freeze": "pack", "frozen": "packed",
    "Frozen": "packed", "aside": "train_valid_split", "part_off": "train_valid_split", "parted": "split",
    "Writer": "LanguageModel", "writing": "generation", "Writing": "Generation", "lm": "language_model",
    "LM": "LanguageModel", "Description": "Caption", "Descriptions": "captions", "descriptions": "captions",
    "describe": "caption", "Describe": "caption", "describes": "caption", "TextClassifier": "Classifier",
    "TextTagger": "Tagger", "follow": "score", "Followed": "Scored", "followed": "scored", "rate": "learning_rate",
    "RATE": "LEARNING_RATE", "gap": "exposure_gap", "world": "dataset", "World": "dataset", "worlds": "datasets",
    "Worlds": "datasets", "WORLDS": "DATASETS", "company": "batch", "whoever": "", "room": "folder, scratch buffer",
    "verb": "command", "Verb": "command", "verbs": "commands", "VERBS": "COMMANDS", "voice": "log", "Voice": "log",
    "reach": "window", "meet": "grid barrier", "all_of_us": "num_threads",
}  # fmt: skip
"""Names that are not used any more, and what to write; empty where the thing itself is gone."""
PARTS = {
    "wish": "constraints", "wishes": "constraints", "likeliest": "top-k, most probable", "rival": "alternative",
    "rivals": "alternatives", "thaw": "unfreeze", "thaws": "unfreezes", "thawed": "unfrozen", "thawing": "unfreezing",
    "journal": "log", "teaching": "auxiliary losses", "describer": "captioner", "describers": "captioners",
    "searcher": "", "quick": "fused, fast",
}  # fmt: skip
"""Words that are not used as a part of any name (``_rivals``, ``JOURNAL``, ``test_a_wish``)."""
DEFINITIONS = {"find": "search", "draw": "sample (of words), plot_… (of figures)"}
"""Names that only other libraries may define: ``str.find`` may be called."""
VAGUE = {
    "found": "result, or what it is", "said": "printed, message", "ours": "regard, actual", "theirs": "expected, other",
    "mine": "own, actual", "learnt": "trained, learned", "drawn": "sampled, generated, figure",
}  # fmt: skip
"""Names for which there is usually a better noun; listed with the prose."""

LINGUISTIC = {"verb", "Verb", "verbs", "VERBS", "voice", "Voice"}
OPS = {"room", "asked", "reach", "meet", "all_of_us", "quick"}
UNFREEZING = {"freeze", "frozen"}
ALLOWED: dict[str, set[str]] = {
    "src/regard/datasets": LINGUISTIC,  # parts of speech, and active and passive voice
    "tests/datasets": LINGUISTIC,
    "src/regard/lab/alignment": LINGUISTIC,
    "src/regard/ops": OPS,  # the inside of ops/ is redesigned later
    "tests/ops": OPS,
    "src/regard/training": UNFREEZING,  # layers that are not trained yet: the papers' own word
    "tests/training": UNFREEZING,
    "src/regard/plots": {"room", "gap", "draw"},  # free space of a figure, and drawing it
    "src/regard/lab": {"draw"},
    "tests/plots": {"room", "gap", "draw"},
    "tests": {"request"},  # a fixture of pytest
    "tests/search/test_reference": {"draw"},  # the argument of a composite strategy of hypothesis
    "examples/my_task": {"rate", "RATE"},  # a rating
    "src/regard/server": {"Request", "request", "requests"},  # of HTTP
    "benchmarks/serve": {"request", "requests"},
    "tools/words.py": {*NAMES, *PARTS, *VAGUE},
    "tests/test_words.py": {*NAMES, *PARTS, *VAGUE},
}
"""Where a word keeps another meaning, by the start of a path."""

PHRASES = (
    r"so many", r"so much as", r"by lot", r"for who\b", r"whoever", r"no number", r"rivals?\b", r"\bcompany\b",
    r"\broom\b", r"\bworlds?\b", r"likewise", r"\bstands?\b", r"\bstood\b", r"such as gives", r"likeliest", r"\btold\b",
    r"\bwish", r"\bverbs?\b", r"\bmoods?\b", r"\bjournal", r"\bthaw", r"\baside\b", r"\blearnt\b", r"\bwere nothing",
    r"\banew\b", r"of one's own", r"of its own", r"\bless ``", r"\bdescribers?\b", r"\bby another road",
    r"\broads?\b", r"the way back", r"\bhands? (on|out|down)\b", r"\basked\b", r"\btells?\b", r"\bnobody\b",
    r"\bbeginnings?\b", r"\bthe least\b", r"\bthe greatest\b", r"\bquick(er|est|ly)?\b", r"\bfrozen\b", r"\bparted\b",
    r"\bvoices?\b", r"\bput out\b", r"\bwho wants\b", r"(?<!there )\bis no\b", r"(?<!there )\bare no\b",
    r"\bbut for\b", r"\bin sight\b",
    r"(once|twice|products?|numbers?|tokens|words|rows?|sentences|ms|milliseconds|seconds|floats|calls) a "
    r"(word|sentence|step|second|side|batch|hypothesis|line|row|slot|weight|position|program)\b",
)  # fmt: skip
PHRASE = re.compile("|".join(PHRASES), re.IGNORECASE)
FLAG = re.compile(r"--[a-z][a-z-]+")
"""An option of the command line."""


class Word(NamedTuple):
    """An occurrence: ``path:line``, the word, and the remedy or the line of prose."""

    path: str
    line: int
    word: str
    text: str

    def __str__(self) -> str:
        """As one line of output."""
        return f"{self.path}:{self.line}: {self.word}: {self.text}"


def python_files(paths: Sequence[Path] = ()) -> Iterator[Path]:
    """Every Python file of the repository's own folders, or those of them below some paths."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not paths or any(path.is_relative_to(start) for start in paths):
                yield path


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
        elif isinstance(node, ast.keyword) and node.arg and node.arg != "frozen":  # @dataclass(frozen=True)
            yield node.arg, node.value.lineno, False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and FLAG.fullmatch(node.value):
            yield node.value.removeprefix("--").replace("-", "_"), line, False
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


def identifiers(paths: Sequence[Path] = ()) -> list[Word]:
    """Every identifier that should not be used any more."""
    words = []
    for path in python_files(paths):
        place = path.relative_to(ROOT).as_posix()
        allowed = set().union(*(names for start, names in ALLOWED.items() if place.startswith(start)))
        for name, line, defined in names_of(ast.parse(path.read_text(encoding="utf-8"))):
            instead = remedy(name, defined, allowed)
            if instead is not None:
                words.append(Word(place, line, name, f"write {instead}" if instead else "is gone"))
    return sorted(set(words))


def vague_names(paths: Sequence[Path] = ()) -> list[Word]:
    """Every use of a name for which there is usually a better noun."""
    return sorted(
        {
            Word(path.relative_to(ROOT).as_posix(), line, name, f"better {VAGUE[name]}")
            for path in python_files(paths)
            for name, line, _ in names_of(ast.parse(path.read_text(encoding="utf-8")))
            if name in VAGUE
        }
    )


def prose(paths: Sequence[Path] = ()) -> list[Word]:
    """Every line of prose with an archaic phrase."""
    words = []
    pages = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("src/**/*.md"))]
    for path in pages:
        if paths and not any(path.is_relative_to(start) for start in paths):
            continue
        place = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words += [Word(place, number, hit[0], line.strip()[:110]) for hit in PHRASE.finditer(line)]
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for path in python_files(paths):
        place = path.relative_to(ROOT).as_posix()
        if place in ("tools/words.py", "tests/test_words.py"):
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
    parser.add_argument("paths", nargs="*", type=Path, help="only these files and folders")
    parser.add_argument(
        "--prose", action="store_true", help="also list archaic phrases in prose and vague names"
    )
    args = parser.parse_args()
    paths = [path.resolve() for path in args.paths]
    left = identifiers(paths)
    for word in left:
        print(word)
    if args.prose:
        for kind, words in (("vague names", vague_names(paths)), ("phrases", prose(paths))):
            for word in words:
                print(word)
            counts = Counter(word.word.lower() for word in words).most_common()
            print(f"{len(words)} {kind}: " + ", ".join(f"{word} {count}" for word, count in counts))
    print(f"{len(left)} identifiers to rename")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
