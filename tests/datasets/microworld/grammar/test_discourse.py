import random

from regard.datasets.microworld.grammar.talk import Talk, is_held_out
from regard.datasets.microworld.lexicon.function_words import ADDRESSES, HE, IT, SHE, THEY, WE, I
from regard.datasets.microworld.lexicon.nouns import BY_NAME


def talk(address=None):
    dice = random.Random(1).random
    return Talk(dice) if address is None else Talk(dice, address)


def drawn(conversation):
    return {conversation.person() for _ in range(300)}


def test_nothing_mentioned_leaves_people_only():
    conversation = talk()
    assert conversation.thing() is None
    assert {HE, SHE, I, WE, THEY[False]} < drawn(conversation)


def test_it_has_the_gender_of_the_thing_mentioned():
    conversation = talk()
    conversation.mention(BY_NAME["car"], feminine=True, plural=False)
    assert conversation.thing() == (IT[True], BY_NAME["car"])
    conversation.mention(BY_NAME["door"], feminine=True, plural=False)
    assert conversation.thing() == (IT[True], BY_NAME["door"])


def test_it_is_not_said_where_two_genders_are_in_question():
    conversation = talk()
    conversation.mention(BY_NAME["car"], feminine=True, plural=False)
    conversation.mention(BY_NAME["book"], feminine=False, plural=False)
    assert conversation.thing() is None


def test_they_has_the_gender_of_the_people_mentioned_or_is_not_said():
    conversation = talk()
    conversation.mention(BY_NAME["girl"], feminine=True, plural=True)
    assert THEY[True] in drawn(conversation)
    assert THEY[False] not in drawn(conversation)
    conversation.mention(BY_NAME["boy"], feminine=False, plural=True)
    assert not {THEY[True], THEY[False]} & drawn(conversation)


def test_things_mentioned_in_the_plural_are_they_but_nobody():
    conversation = talk()
    conversation.mention(BY_NAME["apple"], feminine=True, plural=True)
    assert conversation.thing() == (THEY[True], BY_NAME["apple"])
    assert not {THEY[True], THEY[False]} & drawn(conversation)


def test_you_is_whoever_the_sentence_addresses():
    assert talk().address.you in drawn(talk())
    assert ADDRESSES[0].you in drawn(talk(ADDRESSES[0]))
    assert talk().address.you not in drawn(talk(ADDRESSES[0]))


def test_some_pairs_are_held_out_but_most_are_not():
    pairs = [(adjective, noun) for adjective in ("red", "old", "big", "sad") for noun in BY_NAME]
    share = sum(is_held_out(*pair) for pair in pairs) / len(pairs)
    assert 0.03 < share < 0.1
