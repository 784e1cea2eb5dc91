"""Adjectives: English | French (feminine after a slash where no rule gives it) | comparative | kinds of noun.

The first table's adjectives stand before a French noun, the second's after it. A comparative is the English
form, ``more`` where English needs that word, or ``-`` where the grammar does not compare.
"""

from regard.worlds.microworld.french import adjective_forms
from regard.worlds.microworld.lexicon.entries import Adjective
from regard.worlds.microworld.lexicon.nouns import NOUNS, kinds_in

_BEFORE = """
big       | grand           | bigger   | animal vehicle thing furniture opening place food
small     | petit           | smaller  | person animal food object place instrument
tall      | grand           | taller   | person
beautiful | beau/belle      | more     | person animal object place instrument
pretty    | joli            | prettier | clothes thing area
good      | bon/bonne       | better   | edible drink text
bad       | mauvais         | -        | edible drink text idea
young     | jeune           | younger  | person animal
old       | vieux/vieille   | older    | person animal object place instrument
new       | nouveau/nouvelle | newer   | object place instrument idea
long      | long/longue     | longer   | text clothes idea
fat       | gros/grosse     | fatter   | animal
other     | autre           | -        | person animal food object place idea instrument
"""

_AFTER = """
red         | rouge       | - | clothes vehicle thing furniture opening
blue        | bleu        | - | clothes vehicle thing furniture opening
green       | vert        | - | clothes vehicle thing furniture opening
black       | noir        | - | animal clothes vehicle thing furniture
white       | blanc       | - | animal clothes vehicle thing furniture opening
yellow      | jaune       | - | clothes vehicle thing furniture
grey        | gris        | - | animal clothes vehicle
happy       | heureux     | happier | person
sad         | triste      | sadder | person
tired       | fatigué     | more | person animal
rich        | riche       | richer | person
poor        | pauvre      | poorer | person
strong      | fort        | stronger | person animal
intelligent | intelligent | more | person animal
kind        | gentil/gentille | kinder | person
famous      | célèbre     | more | person place text
brave       | courageux   | braver | person animal
lazy        | paresseux   | lazier | person animal
serious     | sérieux     | more | person
sick        | malade      | - | person animal
shy         | timide      | shyer | person
polite      | poli        | more | person
honest      | honnête     | more | person
curious     | curieux     | more | person animal
patient     | patient     | more | person
jealous     | jaloux/jalouse | more | person
expensive   | cher        | more | clothes vehicle thing furniture food drink stuff instrument
heavy       | lourd       | heavier | thing furniture
light       | léger       | lighter | clothes thing furniture
clean       | propre      | cleaner | clothes vehicle thing furniture place
dirty       | sale        | dirtier | clothes vehicle thing furniture place
empty       | vide        | - | vehicle area site
modern      | moderne     | more | vehicle furniture place
broken      | cassé       | - | thing furniture opening
useful      | utile       | more | thing text
interesting | intéressant | more | text idea
difficult   | difficile   | more | text idea
easy        | facile      | easier | idea
important   | important   | more | text idea
strange     | étrange     | stranger | person animal text idea thing
dangerous   | dangereux   | more | animal vehicle area
quiet       | calme       | quieter | person animal place
round       | rond        | - | thing furniture opening
cold        | froid       | colder | stuff drink
hot         | chaud       | hotter | stuff drink
fresh       | frais/fraîche | fresher | food stuff
delicious   | délicieux   | more | food stuff drink
comfortable | confortable | more | clothes vehicle furniture
French      | français    | - | person text vehicle
Italian     | italien     | - | person text vehicle
wild        | sauvage     | - | animal
"""

_BRIDGING = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}


def _read(table: str, before: bool) -> list[Adjective]:
    adjectives = []
    for line in table.strip().splitlines():
        english, french, comparative, kinds = (cell.strip() for cell in line.split("|"))
        forms = adjective_forms(french)
        bridging = _BRIDGING.get(forms[0], forms[0])
        compared = "" if comparative == "-" else comparative
        adjectives.append(Adjective(english, forms, bridging, before, compared, kinds_in(kinds)))
    return adjectives


ADJECTIVES = tuple(_read(_BEFORE, True) + _read(_AFTER, False))

FOR_KIND = {kind: tuple(a for a in ADJECTIVES if kind in a.kinds) for kind in NOUNS}
"""Adjectives that may stand with a noun, by the noun's kind."""

PREDICATES = {
    kind: tuple(a for a in found if a.en not in ("other", "new")) for kind, found in FOR_KIND.items()
}
"""Those that may follow be; a new car is nouvelle, but one that is new is neuve."""

COMPARED = {kind: tuple(a for a in found if a.comparative) for kind, found in PREDICATES.items()}
"""Those with a comparative."""
