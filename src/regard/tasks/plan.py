"""Plans: how to train on some data, decided from its statistics, each decision with its reason.

In: the lines of a training file, counted into `TextStatistics`. Out: a `Plan`, the options of a run as a preset has
them, with a reason for each. The rules that every task shares are here: level of the text, Unicode form, number of
updates, warm-up, validation; each task's own are in its folder's ``plan.py``. All functions are pure: no file is read
here, and nothing is trained.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from regard.config import flatten, merge, toml_value
from regard.io import LARGEST
from regard.tasks.spec import Preset
from regard.text.scripts import share_unspaced

MAX_LINES = 50_000
"""Statistics are of at most this number of lines, taken at even intervals: a second or two of counting."""

MAX_STRING = 40
"""Characters per line, on average, up to which lines of one word are strings."""

Item = TypeVar("Item")

_MAX_LETTERS = 3  # of a phone's symbol without its diacritics, as in `tasks.generation.token_unit`
_MAX_SYMBOLS = 500
_UNSPACED = 0.5  # of the characters, for text without blanks between words;
_MIN_SENTENCE = 8  # characters of it between two blanks, where they are sentences rather than words,
_MIN_CHARACTERS = 40  # and different ones: fewer are dates and numbers
_CHARACTERS_PER_WORD = 2  # in Chinese and Japanese text
_NEW_WORDS = 0.005
_TOKENS_PER_SUBWORD = 60
_NUM_VALIDATIONS = 25
_UPDATES_BETWEEN = 10  # two validations, at least
_PATIENCE = 10


@dataclass(frozen=True)
class Decision:
    """One decision of a plan.

    Attributes:
        subject: what it is about, in a word or two.
        value: what was decided, in words.
        reason: why, in a few words.
        options: the options it sets, as nested tables.
    """

    subject: str
    value: str
    reason: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """How to train on some data.

    Attributes:
        data: what the data are, in one line.
        decisions: in the order in which they are shown.
    """

    data: str
    decisions: tuple[Decision, ...]

    @property
    def options(self) -> Preset:
        """The options of all decisions, as a preset has them."""
        return merge(*(decision.options for decision in self.decisions))

    def lines(
        self, given: Mapping[str, Any] | None = None, merged: Mapping[str, Any] | None = None
    ) -> list[str]:
        """The plan in a few lines; what was given by hand is marked, and decisions wholly given are left out.

        Args:
            given: the options given by hand, as nested tables.
            merged: the plan's options with those laid over them; options that a choice by hand dropped are not in it.
        """
        lines = [f"plan: {self.data}"]
        by_hand = flatten(given or {})
        kept = flatten(self.options if merged is None else merged)
        for decision in self.decisions:
            own = [path for path in flatten(decision.options) if path in kept]
            changed = {path: by_hand[path] for path in own if path in by_hand}
            if changed and len(changed) == len(own):
                continue
            hand = ", ".join(f"{path} = {toml_value(value)}" for path, value in changed.items())
            lines.append(
                f"  {decision.subject}: {decision.value} ({decision.reason})"
                + (f"; by hand: {hand}" if hand else "")
            )
        return lines

    def to_json(self) -> dict[str, Any]:
        """Options and reasons as plain values."""
        return {
            "data": self.data,
            "decisions": [
                {"subject": each.subject, "value": each.value, "reason": each.reason, "options": each.options}
                for each in self.decisions
            ],
        }


@dataclass(frozen=True)
class TextStatistics:
    """What a plan knows of some lines.

    Attributes:
        num_lines: the number of lines counted.
        mean_characters: per line.
        long_characters: 99 of 100 lines have at most this number.
        mean_words: blank-separated words per line.
        long_words: 99 of 100 lines have at most this number.
        alphabet_size: the number of different characters, blanks not counted, composed (NFC).
        decomposed_size: the same after decomposition (NFD).
        num_words: the number of words.
        num_word_types: the number of different words.
        new_word_rate: N₁/N, the words that occur once per word: the probability that the next word is new (Good 1953,
            Eq. 9).
        are_symbols: whether lines are blank-separated symbols, such as phones.
        are_unspaced: whether lines are running text without blanks between words, as Japanese or Thai.
    """

    num_lines: int
    mean_characters: float
    long_characters: int
    mean_words: float
    long_words: int
    alphabet_size: int
    decomposed_size: int
    num_words: int
    num_word_types: int
    new_word_rate: float
    are_symbols: bool
    are_unspaced: bool = False

    @property
    def are_single_words(self) -> bool:
        """Whether most lines are one word."""
        return self.mean_words <= 1.5 and not self.are_unspaced

    @property
    def are_strings(self) -> bool:
        """Whether lines are short strings, such as words, rather than sentences."""
        return self.are_single_words and self.mean_characters <= MAX_STRING

    @property
    def words_per_line(self) -> float:
        """Running words per line, estimated where no blanks separate them."""
        return self.mean_characters / _CHARACTERS_PER_WORD if self.are_unspaced else self.mean_words

    @property
    def longest(self) -> int:
        """99 of 100 lines have at most this number of words, or of characters where no blanks separate words."""
        return self.long_characters if self.are_unspaced else self.long_words


def take_evenly(items: Sequence[Item], count: int = MAX_LINES) -> Sequence[Item]:
    """At most `count` of the items, at even intervals: a file in order of length or alphabet is sampled fairly."""
    return items if len(items) <= count else [items[k * len(items) // count] for k in range(count)]


def describe_text(lines: Iterable[str]) -> TextStatistics:
    """Count what plans are made from.

    Args:
        lines: some lines, a few at least with text.
    """
    texts = [unicodedata.normalize("NFC", line.strip()) for line in lines]
    characters = Counter[str]()
    words = Counter[str]()
    for text in texts:
        characters.update(text)
        words.update(text.split())
    alphabet = {character for character in characters if not character.isspace()}
    decomposed = set(unicodedata.normalize("NFD", "".join(alphabet)))
    num_words = words.total()
    mean_words = num_words / max(len(texts), 1)
    num_characters = sum(map(len, words.elements()))
    are_unspaced = (
        share_unspaced("".join(characters.elements())) > _UNSPACED
        and num_characters >= _MIN_SENTENCE * num_words
        and len(alphabet) >= _MIN_CHARACTERS
    )
    phones = sum(count for word, count in words.items() if _num_letters(word) <= _MAX_LETTERS)
    return TextStatistics(
        num_lines=len(texts),
        mean_characters=characters.total() / max(len(texts), 1),
        long_characters=_percentile([len(text) for text in texts], 0.99),
        mean_words=mean_words,
        long_words=_percentile([len(text.split()) for text in texts], 0.99),
        alphabet_size=len(alphabet),
        decomposed_size=len(decomposed),
        num_words=num_words,
        num_word_types=len(words),
        new_word_rate=sum(count == 1 for count in words.values()) / max(num_words, 1),
        are_symbols=mean_words > 1.5 and len(words) <= _MAX_SYMBOLS and phones >= 0.99 * num_words,
        are_unspaced=are_unspaced,
    )


def _num_letters(word: str) -> int:
    return sum(unicodedata.category(character) not in ("Mn", "Lm", "Sk") for character in word)


def _percentile(values: Sequence[int], share: float) -> int:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)] if values else 0


@dataclass(frozen=True)
class Level:
    """What the tokens of a text are.

    Attributes:
        kind: a key of `regard.text.KINDS`.
        size: the largest vocabulary; None where the alphabet or the words decide, and the default is enough.
        value: in words.
        reason: in a few words.
    """

    kind: str
    size: int | None
    value: str
    reason: str


def choose_level(text: TextStatistics, *, strings: bool, given: str | None = None) -> Level:
    """Choose characters, words or subwords for one text.

    Symbols separated by blanks are tokens as they are. Strings (single words, dates) are read by characters: their
    words are as many as the lines, so no vocabulary of words covers new ones; BPE of 8,000 gave an exact match of 0 %
    on spelling to sound. Words are tokens where the vocabulary is closed: the next word is new with a probability below
    0.5 % (Good–Turing). Everything else is cut into subwords (Sennrich et al. 2016): about one per 60 running words,
    for few data need few (Sennrich & Zhang 2019); on Multi30k's 370,000 words that is 6,000, and the README's BLEU of
    41.3 had 8,000 and 5,000. The number was not tuned. Sentences without blanks between words are cut into subwords
    too, two characters being counted as a word (Kudo & Richardson 2018 learn them from raw sentences).

    Args:
        text: one side.
        strings: whether the lines are short strings rather than sentences.
        given: the kind that was given by hand.
    """
    kind, reason = _level(text, strings)
    if given is not None and given != kind:
        kind, reason = given, "by hand"
    if kind == "char":
        return Level(kind, None, f"characters, {text.alphabet_size:,} different", reason)
    if kind == "word":
        return Level(kind, min(max(text.num_word_types + 100, 1000), 50_000), "words", reason)
    smallest = max(500, 2 * text.alphabet_size + 100)
    size = max(smallest, min(16_000, _round(text.num_lines * text.words_per_line / _TOKENS_PER_SUBWORD)))
    return Level(kind, size, f"{size:,} subwords", reason)


def _level(text: TextStatistics, strings: bool) -> tuple[str, str]:
    if text.are_symbols:
        return "word", f"{text.num_word_types} symbols separated by blanks"
    if strings:
        return "char", "short strings, where most words are new"
    if text.are_unspaced:
        return "bpe", "sentences without blanks between words"
    if text.are_single_words:
        return "char", "no blanks between words"
    if text.new_word_rate < _NEW_WORDS:
        return "word", f"{text.num_word_types:,} different words, hardly ever a new one"
    return "bpe", f"{100 * text.new_word_rate:.1f} % of running words would be new"


def choose_form(sides: Mapping[str, tuple[TextStatistics, Level]]) -> Decision:
    """Choose the Unicode form: NFD where it makes the alphabet of a side read by characters at most a quarter.

    Korean spelling to sound (SIGMORPHON 2020, 834 syllables of 61 letters): dev WER 26.2 % with NFD; the published
    LSTM baseline, without it, has a test WER of 46.9 %.

    Args:
        sides: by name, as messages call them.
    """
    for name, (text, level) in sides.items():
        if level.kind == "char" and 4 * text.decomposed_size <= text.alphabet_size:
            return Decision(
                "Unicode form",
                "NFD, composed again on output",
                f"{text.alphabet_size:,} characters of the {name} are {text.decomposed_size:,} when decomposed",
                {"tokenizer": {"normalize": "nfd"}},
            )
    return Decision(
        "Unicode form",
        "NFC",
        "decomposing would not make an alphabet much smaller",
        {"tokenizer": {"normalize": "nfc"}},
    )


def choose_schedule(
    updates: int,
    reason: str,
    *,
    select: str,
    selection: str,
    why: str = "",
    by_hand: int | None = None,
    keep_last: bool = False,
    decoded: int | None = None,
) -> list[Decision]:
    """Choose what follows from the number of updates: warm-up, decay, validations and early stopping.

    The warm-up takes a twentieth of the run, at most 200 updates, so that no planned run ends inside it. There are 25
    validations, fewer in a run given by hand that is so short that they would follow each other within 10 updates, and
    patience ends a run after 10 without a better score: on spelling to sound the best update was between a third of
    the run and its end.

    Args:
        updates: of the whole run.
        reason: for this number.
        select: the score that selects the best checkpoint, a key of `METRICS`.
        selection: the same in words.
        why: for this score.
        by_hand: the updates that were given by hand, which everything else follows; see `updates_by_hand`.
        keep_last: whether nothing is selected: one validation, at the end.
        decoded: the most validation examples that are decoded; None for the usual number.
    """
    length = updates if by_hand is None else by_hand
    warmup = min(200, length // 20)
    every, patience = max(length // _NUM_VALIDATIONS, min(length, _UPDATES_BETWEEN)), _PATIENCE
    validations = (
        f"every {every:,} updates; {selection} selects; the run ends after {patience} without a better one"
    )
    if every >= length:
        validations = f"once, at the end; {selection} selects"
    if keep_last:
        every, patience, validations = length, 0, "once, at the end; the last weights are kept"
    validation: dict[str, Any] = {"validate_every": every, "select": select, "patience": patience}
    if decoded is not None:
        validation["validation_sentences"] = decoded
    return [
        Decision(
            "updates",
            f"at most {updates:,}",
            reason,
            {"training": {"max_updates": updates, "max_epochs": 0.0}},
        ),
        Decision(
            "schedule",
            f"{warmup} update{'' if warmup == 1 else 's'} of warm-up, then a cosine to zero",
            "a twentieth of the run, at most 200",
            {"training": {"schedule": "cosine", "warmup": warmup, "optimizer": "adam", "clip": 1.0}},
        ),
        Decision(
            "validation",
            validations,
            why or ("25 in a run" if every > _UPDATES_BETWEEN else "at most 25 in a run"),
            {"training": validation},
        ),
    ]


def updates_by_hand(given: Mapping[str, Any] | None, num_examples: int, batch: int) -> int | None:
    """The length of a run that was given by hand, as ``max_updates`` or ``max_epochs``; None where none was.

    Args:
        given: options given by hand, as nested tables; values of a wrong type or range are left to their configuration.
        num_examples: in the training data.
        batch: examples per update.
    """
    training = (given or {}).get("training", {})
    updates, epochs = training.get("max_updates"), training.get("max_epochs")
    if isinstance(updates, int) and 0 < updates <= LARGEST:
        return updates
    if isinstance(epochs, int | float) and 0 < epochs <= LARGEST:
        return max(1, math.ceil(epochs * num_examples / batch))
    return None


def count_updates(num_examples: int, batch: int, passes: float, low: int, high: int) -> tuple[int, str]:
    """The updates of some passes over the data, between bounds, and the reason in words.

    Args:
        num_examples: in the training data.
        batch: examples per update.
        passes: wanted.
        low: the fewest updates from which a network is trained at all.
        high: the most.
    """
    wanted = math.ceil(passes * num_examples / batch)
    updates = _round(min(max(wanted, low), high))
    if wanted < low:
        return updates, "fewer train nothing, and the data are few"
    if wanted > high:
        return updates, f"{updates * batch / num_examples:.1f} passes; the data are many"
    return updates, f"{passes:g} passes over the data"


def _round(number: float) -> int:
    """Two digits: 5,437 → 5,400."""
    step: int = 10 ** max(0, math.floor(math.log10(max(number, 1))) - 1)
    return round(number / step) * step


@dataclass(frozen=True)
class Budget:
    """The time there is.

    Attributes:
        minutes: given by hand.
        flops: floating-point operations per second of the device.
    """

    minutes: float
    flops: float


SECONDS_PER_UPDATE = 0.015
"""What an update takes beside its arithmetic: batches, Python, the optimizer; 15 ms with small models on one core."""
FLOPS_PER_CORE = 30e9
"""From the README's Multi30k: 5 million parameters, about 900 words per update, 3,600 updates in 24 minutes."""


def estimate_minutes(updates: int, num_parameters: float, tokens_per_update: float, flops: float) -> float:
    """Estimate the time of a run: 6 operations per parameter and token (forward 2, backward 4), and a constant.

    A rough guide, from two runs on one machine: a run with a budget ends by the clock, whatever this says.

    Args:
        updates: of the run.
        num_parameters: without embeddings, which are looked up.
        tokens_per_update: target tokens of a batch.
        flops: of the device.
    """
    return updates * (SECONDS_PER_UPDATE + 6 * num_parameters * tokens_per_update / flops) / 60


def limit_run(
    budget: Budget | None, updates: int, num_parameters: float, tokens_per_update: float
) -> list[Decision]:
    """The limit by the clock with an estimate of the whole run, as `estimate_minutes`; none without a budget."""
    if budget is None:
        return []
    minutes = estimate_minutes(updates, num_parameters, tokens_per_update, budget.flops)
    return [limit_minutes(budget, f"the whole run would take about {minutes:.0f} min")]


def limit_minutes(budget: Budget, reason: str) -> Decision:
    """The limit by the clock; `reason` is about the time that the whole run would take."""
    return Decision(
        "budget",
        f"{budget.minutes:g} min; the schedule follows the clock",
        reason,
        {"training": {"max_minutes": budget.minutes}},
    )
