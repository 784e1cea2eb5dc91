import random

from regard.datasets.microworld.grammar.discourse import Discourse, is_held_out
from regard.datasets.microworld.lexicon.function_words import HE, IT, SHE, THEY, VOCATIVES, WE, I
from regard.datasets.microworld.lexicon.nouns import BY_NAME


def discourse(vocative=None):
    dice = random.Random(1).random
    return Discourse(dice) if vocative is None else Discourse(dice, vocative)


def drawn(conversation):
    return {conversation.pick_person() for _ in range(300)}


def test_nothing_mentioned_leaves_people_only():
    conversation = discourse()
    assert conversation.thing_pronoun() is None
    assert {HE, SHE, I, WE, THEY[False]} < drawn(conversation)


def test_it_has_the_gender_of_the_thing_mentioned():
    conversation = discourse()
    conversation.mention(BY_NAME["car"], feminine=True, plural=False)
    assert conversation.thing_pronoun() == (IT[True], BY_NAME["car"])
    conversation.mention(BY_NAME["door"], feminine=True, plural=False)
    assert conversation.thing_pronoun() == (IT[True], BY_NAME["door"])


def test_it_is_not_used_after_nouns_of_two_genders():
    conversation = discourse()
    conversation.mention(BY_NAME["car"], feminine=True, plural=False)
    conversation.mention(BY_NAME["book"], feminine=False, plural=False)
    assert conversation.thing_pronoun() is None


def test_they_has_the_gender_of_the_people_mentioned_or_is_not_used():
    conversation = discourse()
    conversation.mention(BY_NAME["girl"], feminine=True, plural=True)
    assert THEY[True] in drawn(conversation)
    assert THEY[False] not in drawn(conversation)
    conversation.mention(BY_NAME["boy"], feminine=False, plural=True)
    assert not {THEY[True], THEY[False]} & drawn(conversation)


def test_plural_things_are_they_but_people_are_not():
    conversation = discourse()
    conversation.mention(BY_NAME["apple"], feminine=True, plural=True)
    assert conversation.thing_pronoun() == (THEY[True], BY_NAME["apple"])
    assert not {THEY[True], THEY[False]} & drawn(conversation)


def test_you_is_whoever_the_sentence_addresses():
    assert discourse().vocative.you in drawn(discourse())
    assert VOCATIVES[0].you in drawn(discourse(VOCATIVES[0]))
    assert discourse().vocative.you not in drawn(discourse(VOCATIVES[0]))


def test_some_pairs_are_held_out_but_most_are_not():
    pairs = [(adjective, noun) for adjective in ("red", "old", "big", "sad") for noun in BY_NAME]
    share = sum(is_held_out(*pair) for pair in pairs) / len(pairs)
    assert 0.03 < share < 0.1
