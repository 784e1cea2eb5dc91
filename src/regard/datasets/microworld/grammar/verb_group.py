"""The verb with everything that clings to it: tenses and auxiliaries, negation, clitics, adverbs.

In: a verb, a `Voice` (tense as English sees it, negation, adverbs), and what the verb agrees with. Out: a
`VerbGroup` whose English auxiliary can be set before the subject. The French side has ne, clitics, finite
verb, pas, adverb and participle in their order.
"""

from regard.datasets.microworld.french import conjugate
from regard.datasets.microworld.lexicon.entries import Verb
from regard.datasets.microworld.lexicon.function_words import Agreement
from regard.datasets.microworld.tokens import Mot, Word

_BE = {"present": ("am", "are", "is"), "past": ("was", "were", "was"), "unreal": ("were", "were", "were")}
_HAVE = ("have", "have", "has")
_DO = {"present": ("do", "do", "does"), "past": ("did", "did", "did"), "unreal": ("did", "did", "did")}
_SE = ("me", "te", "se", "nous", "vous", "se")
_PARTICLE_TAGS = {
    "hungry": "ADJ", "thirsty": "ADJ", "right": "ADJ", "wrong": "ADJ", "afraid": "ADJ", "hot": "ADJ",
    "cold": "ADJ", "asleep": "ADJ", "dressed": "ADJ", "bored": "ADJ", "bed": "NOUN",
    "back": "ADV", "how": "ADV",
}  # fmt: skip
_AVOIR, _ETRE, _ALLER = conjugate("avoir"), conjugate("être"), conjugate("aller")


class Voice:
    """How a verb is said.

    Attributes:
        tense: infinitive, present, later (present in English, future in French), progressive, past, was (was
            singing), used (used to sing), perfect, pluperfect, future, going, would, unreal (past after if).
        en: English words between auxiliary and verb: not, never, often.
        ne: the English word that calls for ne, if any.
        do: True where the negation needs do.
        closing: French words after the finite verb: pas, jamais, souvent.
        asked: True in a question, where the auxiliary goes before the subject.
    """

    __slots__ = ("asked", "closing", "do", "en", "ne", "tense")

    def __init__(self, tense: str, asked: bool = False) -> None:
        self.tense = tense
        self.asked = asked
        self.do = False
        self.en: list[Word] = []
        self.ne: Word | None = None
        self.closing: list[Mot] = []


class VerbGroup:
    """A verb in both languages; the English auxiliary stands before `en`, or before the subject.

    Attributes:
        aux: the English auxiliary.
        en: the English words after it.
        head: the English verb.
        particles: the words that go with it.
        meaning: the word the French verb renders: the head, or dressed where the head is only get.
        fr: the French words.
    """

    __slots__ = ("aux", "en", "fr", "head", "meaning", "particles")

    def __init__(
        self, aux: Word | None, en: list[Word], head: Word, particles: list[Word], light: bool = False
    ) -> None:
        self.aux = aux
        self.en = en
        self.head = head
        self.particles = particles
        self.meaning = particles[-1] if light else head
        self.fr: list[Mot] = []


def verb_group(
    verb: Verb,
    voice: Voice,
    agreement: Agreement,
    clitics: tuple[Mot, ...] = (),
    preceding: Agreement | None = None,
) -> VerbGroup:
    """Build a verb in both languages.

    Args:
        verb: the verb.
        voice: its tense, negation and adverbs.
        agreement: its subject.
        clitics: French object pronouns, in order.
        preceding: the direct object, where French has it before the verb and the participle agrees with it.
    """
    group = _english(verb, voice, agreement)
    if verb.reflexive:
        oneself: Word | None = None
        if verb.oneself:
            oneself = Word(_oneself(agreement), "PRON")
            group.en.append(oneself)
        besides = () if oneself else (group.head, group.meaning)
        clitics = (Mot(_SE[agreement.person], oneself, besides), *clitics)
    _french(group, verb, voice, agreement, clitics, agreement if verb.etre else preceding)
    return group


def agree(participle: str, agreement: Agreement | None) -> str:
    """Make a past participle agree with subject or object."""
    if agreement is None:
        return participle
    if agreement.feminine:
        return participle + ("es" if agreement.plural else "e")
    return participle + "s" if agreement.plural and participle[-1] != "s" else participle


def _oneself(agreement: Agreement) -> str:
    person = agreement.person
    if person == 2:
        return "herself" if agreement.feminine else "himself"
    if person in (1, 4):
        return "yourselves" if agreement.plural else "yourself"
    return ("myself", "", "", "ourselves", "", "themselves")[person]


def _english(verb: Verb, voice: Voice, agreement: Agreement) -> VerbGroup:
    tense, english, forms = voice.tense, agreement.english, verb.en
    particles = [Word(text, _PARTICLE_TAGS.get(text, "ADP")) for text in verb.particles]
    shown = "present" if tense == "later" else tense
    aux = _auxiliary(verb, voice, shown, english)
    if aux is not None and aux.tag == "MODAL":
        aux.tag = "AUX"
        if aux.text == "can" and voice.do:
            _cannot(voice, aux)
        return VerbGroup(aux, voice.en + particles, aux, particles)
    lead: list[Word] = []
    if tense == "progressive" or tense == "was":
        text = forms.ing
    elif tense == "perfect" or tense == "pluperfect":
        text = forms.participle
    elif tense == "going" or tense == "used":
        lead = [Word("going" if tense == "going" else "used", "VERB"), Word("to", "PART")]
        text = forms.base
    elif aux is not None or tense == "infinitive":
        text = forms.base
    elif shown == "present":
        text = forms.third if english == 2 else forms.base
    else:
        text = forms.past
    head = Word(text, "AUX" if text in ("be", "been") else "VERB")
    return VerbGroup(aux, voice.en + lead + [head] + particles, head, lead + particles, verb.light)


def _cannot(voice: Voice, can: Word) -> None:
    """Write can and not as one word, which then renders pas and ne as well."""
    can.text = "cannot"
    voice.en = voice.en[1:]
    voice.ne = can
    voice.closing[0].sure = can


def _auxiliary(verb: Verb, voice: Voice, tense: str, english: int) -> Word | None:
    """Return the English auxiliary; one that is the verb itself (be, can) is marked MODAL for the caller."""
    if tense == "infinitive" or tense == "used":
        return None
    if tense in _DO:
        if verb.auxiliary:
            if verb.en.base == "be":
                return Word(_BE[tense][english], "MODAL")
            text = verb.en.base if tense == "present" else verb.en.past
            return Word(text, "MODAL")
        return Word(_DO[tense][english], "AUX") if voice.asked or voice.do else None
    if tense == "progressive" or tense == "going":
        return Word(_BE["present"][english], "AUX")
    if tense == "was":
        return Word(_BE["past"][english], "AUX")
    if tense == "perfect":
        return Word(_HAVE[english], "AUX")
    return Word({"pluperfect": "had", "future": "will", "would": "would"}[tense], "AUX")


_SIMPLE = {
    "present": "present",
    "progressive": "present",
    "was": "imperfect",
    "used": "imperfect",
    "unreal": "imperfect",
    "future": "future",
    "later": "future",
    "would": "conditional",
}


def _french(
    group: VerbGroup,
    verb: Verb,
    voice: Voice,
    agreement: Agreement,
    clitics: tuple[Mot, ...],
    agreed: Agreement | None,
) -> None:
    """Write the French side of the group."""
    fr, tense, head, aux, meaning = group.fr, voice.tense, group.head, group.aux, group.meaning
    around = tuple(word for word in (head, *group.particles) if word is not meaning)
    besides = (*around, aux) if aux is not None and aux is not head else around
    if tense == "infinitive":
        fr += clitics
        fr.append(Mot(verb.fr.infinitive, meaning, besides))
        return
    if voice.ne is not None:
        link = (aux,) if aux is not None and voice.do else ()
        fr.append(Mot("ne", voice.ne, link))
    person = agreement.person
    if tense == "going":
        going = group.particles[0]
        fr.append(Mot(_ALLER.present[person], going, () if aux is None else (aux,)))
        fr += voice.closing
        fr += clitics
        fr.append(Mot(verb.fr.infinitive, meaning, tuple(word for word in around if word is not going)))
        return
    fr += clitics
    simple = "imperfect" if tense == "past" and verb.state else _SIMPLE.get(tense)
    if simple is not None:
        fr.append(Mot(getattr(verb.fr, simple)[person], meaning, besides))
        fr += voice.closing
        return
    helper = _ETRE if verb.etre else _AVOIR
    forms = helper.imperfect if tense == "pluperfect" else helper.present
    fr.append(Mot(forms[person], aux or head))
    fr += voice.closing
    fr.append(Mot(agree(verb.fr.participle, agreed), meaning, around))
