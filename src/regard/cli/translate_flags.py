"""The arguments and options of ``regard translate``: what each means, and where the help shows it."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import DEVICE_HELP, POWER_HELP, WEIGHTS_HELP

_SEARCH, _WORDS, _SAMPLING, _OUTPUT, _MACHINE = "Search", "Words", "Sampling", "Output", "Machine"

Model = Annotated[Path, typer.Argument(help="A model folder.")]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        help="Files to translate; none, or -, for standard input. Model folders before them are asked together "
        "with the first."
    ),
]
Beam = Annotated[
    int, typer.Option(help="Hypotheses kept at each step; 1 is greedy search.", rich_help_panel=_SEARCH)
]
NBest = Annotated[
    int,
    typer.Option(
        help="Print so many translations of each line, best first, with the line's number before each.",
        rich_help_panel=_SEARCH,
    ),
]
LengthPenalty = Annotated[
    str,
    typer.Option(
        help="What divides log p for the score: average, length^k; wu, ((5 + length)/6)^k; none.",
        rich_help_panel=_SEARCH,
    ),
]
LengthPower = Annotated[float, typer.Option(help=POWER_HELP, rich_help_panel=_SEARCH)]
Coverage = Annotated[
    float,
    typer.Option(help="The weight of Wu's coverage penalty, as 0.2; 0 for none.", rich_help_panel=_SEARCH),
]
MinLength = Annotated[int, typer.Option(help="The fewest tokens of a translation.", rich_help_panel=_SEARCH)]
MinRatio = Annotated[
    float, typer.Option(help="The fewest tokens for each source token.", rich_help_panel=_SEARCH)
]
MaxRatio = Annotated[
    float,
    typer.Option(help="The most tokens for each source token, and ten more.", rich_help_panel=_SEARCH),
]
BlockNgrams = Annotated[
    int, typer.Option(help="No N tokens twice in a translation; 0 to allow it.", rich_help_panel=_SEARCH)
]
Combination = Annotated[
    str,
    typer.Option(
        help="How several models become one: mean, of probabilities; log-linear, of log-probabilities.",
        rich_help_panel=_SEARCH,
    ),
]
Prefix = Annotated[str, typer.Option(help="How every translation begins.", rich_help_panel=_WORDS)]
Include = Annotated[
    list[str] | None,
    typer.Option(
        help="A phrase that every translation has, or the beginning of a longer word; may be repeated.",
        rich_help_panel=_WORDS,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="A phrase that no translation has; may be repeated.", rich_help_panel=_WORDS),
]
Requests = Annotated[
    Path | None,
    typer.Option(
        help="The same for each line: a file with a JSON object a line, of prefix, include and exclude.",
        rich_help_panel=_WORDS,
    ),
]
NoUnknowns = Annotated[
    bool, typer.Option("--no-unknowns", help="Never choose the unknown word.", rich_help_panel=_WORDS)
]
ReplaceUnknowns = Annotated[
    bool,
    typer.Option(
        "--replace-unknowns",
        help="Put the source word looked at most in the place of an unknown one.",
        rich_help_panel=_WORDS,
    ),
]
Dictionary = Annotated[
    Path | None,
    typer.Option(
        help="With --replace-unknowns: what source words become, a word, a tab and its translation a line.",
        rich_help_panel=_WORDS,
    ),
]
Sample = Annotated[
    bool,
    typer.Option(
        "--sample",
        help="Draw translations instead of searching for the best; --n-best says how many.",
        rich_help_panel=_SAMPLING,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(help="Below 1 likely words are drawn more often, above 1 less.", rich_help_panel=_SAMPLING),
]
TopK = Annotated[
    int | None, typer.Option(help="Draw among the K likeliest words.", rich_help_panel=_SAMPLING)
]
TopP = Annotated[
    float | None,
    typer.Option(
        help="Draw among the likeliest words that have probability P together.", rich_help_panel=_SAMPLING
    ),
]
Seed = Annotated[
    int | None, typer.Option(help="The same seed gives the same draws.", rich_help_panel=_SAMPLING)
]
Scores = Annotated[
    bool,
    typer.Option(
        "--scores", help="Print each translation's score before it, with a tab.", rich_help_panel=_OUTPUT
    ),
]
Alignments = Annotated[
    bool,
    typer.Option(
        "--alignments",
        help="Print word links after each translation, with a tab: 0-0 1-2 (Pharaoh).",
        rich_help_panel=_OUTPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print tokens, scores of each token, links and all the rest, one JSON object a line.",
        rich_help_panel=_OUTPUT,
    ),
]
Alpha = Annotated[
    bool, typer.Option("--alpha", help="With --json: the attention too.", rich_help_panel=_OUTPUT)
]
Heatmaps = Annotated[
    Path | None,
    typer.Option(help="Draw each line's attention into this folder.", rich_help_panel=_OUTPUT),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write here instead of standard output.", rich_help_panel=_OUTPUT),
]
MaxLength = Annotated[int, typer.Option(help="The most tokens a line may have.", rich_help_panel=_MACHINE)]
Batch = Annotated[int, typer.Option(help="Sentences searched at a time.", rich_help_panel=_MACHINE)]
BatchTokens = Annotated[
    int, typer.Option(help="Source tokens searched at a time, padding counted.", rich_help_panel=_MACHINE)
]
Shortlist = Annotated[
    bool,
    typer.Option(
        "--shortlist",
        help="Choose from the model's shortlist instead of from all words; faster. See regard shortlist.",
        rich_help_panel=_MACHINE,
    ),
]
Int8 = Annotated[
    bool,
    typer.Option("--int8", help="Short for --precision int8; faster.", rich_help_panel=_MACHINE),
]
Precision = Annotated[
    str, typer.Option(help="Of the matrices: float32, bfloat16 or int8.", rich_help_panel=_MACHINE)
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads that compute; by default as many as the process may use.",
        show_default=False,
        rich_help_panel=_MACHINE,
    ),
]
Weights = Annotated[str, typer.Option(help=WEIGHTS_HELP, rich_help_panel=_MACHINE)]
Device = Annotated[str, typer.Option(help=DEVICE_HELP, rich_help_panel=_MACHINE)]
