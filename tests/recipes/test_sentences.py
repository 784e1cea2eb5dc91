"""What the recipes for labelled sentences make of the files, on files of the same form."""

import lzma

from regard.recipes import RECIPES


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))


def arm(recipe, name):
    (found,) = [each for each in RECIPES[recipe].arms if each.name == name]
    return found


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_ten_folds_test_every_text_once_and_leave_out_labels_without_a_text(tmp_path):
    texts = [f"{k % 2} text {k} . " for k in range(25)]
    write(tmp_path / "sentclass" / "custrev.all.xz", [*texts, "0 ", "1"])
    corpora = arm("sentclass", "cr").corpus(tmp_path, tmp_path / "made")
    assert len(corpora) == 10
    expected = sorted(line.strip() for line in texts)
    tested = [line for corpus in corpora for line in lines_of(corpus.tests["test"][0])]
    assert sorted(tested) == expected
    for corpus in corpora:
        assert sorted(lines_of(corpus.train[0]) + lines_of(corpus.tests["test"][0])) == expected


def test_two_classes_are_made_of_five_and_the_language_model_sees_no_labels(tmp_path):
    write(tmp_path / "sst" / "phrases.fine.train.tsv.xz", [f"{k}\tphrase {k}" for k in range(5)])
    for part in ("train", "dev", "test"):
        for classes in ("fine", "binary"):
            write(tmp_path / "sst" / f"stsa.{classes}.{part}.xz", [f"1 a {classes} {part} sentence"])
    paragraph = " A b . C d , e . \n"
    write(tmp_path / "wikitext-2" / "wiki.train.tokens.xz", [" ", " = Heading = ", paragraph.rstrip("\n")])
    two = arm("sst", "two-classes")
    corpus = two.corpus(tmp_path, tmp_path / "two")
    assert lines_of(corpus.train[0]) == ["0\tphrase 0", "0\tphrase 1", "1\tphrase 3", "1\tphrase 4"]
    assert lines_of(corpus.tests["test"][0]) == ["1\ta binary test sentence"]
    five = arm("sst", "five-classes").corpus(tmp_path, tmp_path / "five")
    assert lines_of(five.train[0]) == [f"{k}\tphrase {k}" for k in range(5)]
    text = two.pretraining.corpus(tmp_path, tmp_path / "text")
    assert (lines_of(text.train[0]), lines_of(text.valid[0])) == (
        *(["a fine train sentence", "A b .", "C d , e ."], ["a fine dev sentence"]),
    )
