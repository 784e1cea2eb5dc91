"""What a language model might have said instead, as a tree.

In: a writer and a sample that it drew. Out: the branches of a picture.
"""

from collections.abc import Sequence

from regard.output import Candidate, Sample, SampleStep
from regard.output.pictures.tree import Branch
from regard.text.specials import EOS
from regard.writer import Writer

_LONGEST_BEGINNING = 20
"""Letters of a prompt that are shown; of a longer one, its end."""


def next_words(writer: Writer, *, prompt: str = "", temperature: float = 1.0) -> list[Candidate]:
    """Every word that may come next, likeliest first, with the model's probability and that of being drawn."""
    [sample] = writer.sample(
        prompt=prompt, temperature=temperature, max_length=1, alternatives=writer.tokenizer.size
    )
    [step] = sample.steps
    return sorted((step.chosen, *step.alternatives), key=lambda one: -one.model_probability)


def tree_of(writer: Writer, sample: Sample, *, beyond: int = 2, steps: int = 9) -> Branch:
    """The way a sample took, at each step its likeliest rival above and the next likeliest below.

    Args:
        writer: who drew it, at a temperature of 1.
        sample: with alternatives.
        beyond: how many words that might have followed each rival are shown.
        steps: how many of the sample are shown.
    """
    [end] = writer.tokenizer.tokens([EOS])

    def rival(one: Candidate, before: Sequence[str]) -> Branch:
        following: Sequence[Candidate] = ()
        if one.token != end:
            text = " ".join((*sample.prompt.split(), *before, one.token))
            following = next_words(writer, prompt=text)[:beyond]
        after = tuple(Branch(word.token, word.sampling_probability) for word in following)
        return Branch(one.token, one.sampling_probability, after=after)

    after: tuple[Branch, ...] = ()
    for k in reversed(range(min(steps, len(sample.steps)))):
        step = sample.steps[k]
        chosen = Branch(step.chosen.token, step.chosen.sampling_probability, taken=True, after=after)
        rivals = [rival(one, sample.tokens[:k]) for one in _rivals(step)]
        after = (*rivals[:1], chosen, *rivals[1:])
    beginning = sample.prompt
    if len(beginning) > _LONGEST_BEGINNING:
        beginning = "…" + beginning[-_LONGEST_BEGINNING:]
    return Branch(beginning, after=after)


def _rivals(step: SampleStep) -> list[Candidate]:
    return sorted(step.alternatives, key=lambda one: -one.sampling_probability)[:2]
