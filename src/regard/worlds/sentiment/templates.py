"""The reviewer's phrases: templates with slots, each written as praise.

A slot is a word in braces. Those in pairs, as good and bad, are a word of the clause's own side and one of
the other side: the same template says praise with good and blame with bad in the first one's place. Templates
that cannot be turned round so stand in a table of their own, for praise or for blame. A line that begins with
a number and a cross counts that often. Knows nothing of the words that fill the slots.
"""


def _read(table: str) -> tuple[str, ...]:
    found: list[str] = []
    for line in table.strip().splitlines():
        times, cross, rest = line.partition(" × ")
        found += [rest] * int(times) if cross else [line]
    return tuple(found)


PLAIN = _read("""
4 × {np} {be} {very_good}
2 × {np} {be} {softly_good}
2 × this {was} {a_very_good} {whole}
2 × {one} {be} {joy}
2 × {np} {delights} {me}
2 × {i} {liked} {np}
{np} {be} full of {charm}
{np} {be} {good} and {good}
{person} called {np} {good} , and {i} agree
""")
"""Clauses that say what they mean; turned round for blame."""

NEGATED = _read("""
2 × {np} {be} not {bad} at all
2 × {np} {be} not {bad}
{np} {be} never {bad}
{np} {be} anything but {bad}
{np} {be} far from {bad}
{np} {be} hardly {bad}
{nobody} could call {np} {bad}
{nobody} would say that {np} {be} {bad}
{i} would not call {np} {bad}
{i} cannot say that {np} {be} {bad}
it {was} hard to call {np} {bad}
there {was} nothing {bad} about {np}
this {was} not {a_bad} {whole}
this {was} hardly {a_bad} {whole}
{np} {does} not {annoy} {me}
{np} never {annoys} {me}
{i} did not {dislike} {np}
{nobody} {hated} {np}
{one} {be} not {bore}
it is not true that {np} {be} {bad}
it is wrong to call {np} {bad}
{person} called {np} {bad} , and {i} disagree
some people call {np} {bad} , and they are wrong
{nobody} could say that {np} {be} not {good}
{nobody} can deny that {np} {be} {good}
{np} never {fails} to {delight} {me}
""")
"""Clauses that deny; a few deny a denial, or deny that it could be denied."""

COMPARED = _read("""
{np} {be} {better} than {i} had {hoped}
{np} {be} much {better} than people say
{np} {be} less {bad} than {i} had {feared}
{np} {be} not as {bad} as people say
{np} could not be {better}
{i} have never {tried} {a_better} {whole}
you will not find {a_better} {whole}
there {was} hardly {a_better} {whole} this year
this could have been {a_bad} {whole} , and it {be} not
i expected {a_bad} {whole} , and i was wrong
""")
"""Clauses that compare, with others or with what might have been."""

PRAISING = _read("""
{np} {be} free of {flaws}
{np} {has} no {flaws}
{np} {does} not lack {charm}
{np} {be} not without {charm}
{nobody} would find {flaws} in {np}
""")
"""Denials that can only be praise."""

BLAMING = _read("""
{np} {lacks} {charm}
{np} {has} no {charm}
{np} {fails} to {delight} {me}
{i} wanted to {like} {np}
this could have been {a_good} {whole}
""")
"""Denials, written with words of praise, that can only be blame."""

CONTRASTS = _read("""
5 × {minor} , but {main}
3 × although {minor} , {main}
2 × {main} , although {minor}
even though {minor} , {main}
{main} , even though {minor}
{minor} ; nevertheless , {main}
{minor} , and yet {main}
2 × despite {bad_thing} , {main}
2 × {main} despite {bad_thing}
for all its {flaws} , {main}
""")
"""Two sides in one sentence; the verdict is that of ``main``."""

JOINED = _read("""
{main} , and {main}
{main} ; {main}
{main} because {main}
""")
"""Two clauses of one side."""

FRAMES = _read("""
7 × {body} .
{body} !
i think that {body} .
i must say that {body} .
{person} and i agree that {body} .
in my opinion , {body} .
all in all , {body} .
{i} {saw} this {work} with {person} , and {body} .
{i} {saw} it on a rainy evening ; {body} .
{body} , as {person} says .
""")
"""What stands around a sentence and changes nothing."""

NEUTRAL = {
    "i": ("i", "we"),
    "me": ("me", "us", "my family", "my friends"),
    "nobody": ("nobody", "no one"),
    "person": ("my sister", "my brother", "a friend", "my neighbour", "my teacher", "my wife", "my husband"),
}
"""Words that take no side, by their slot."""

RELATIVES = ("that {person} recommended", "that we {saw} last week", "that everyone talks about")
"""Clauses that say which one is meant."""
