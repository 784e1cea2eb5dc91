import pytest

from regard.errors import ConfigError, DataError
from regard.text import FeaturedText, Place, SentencePair, read_lines, read_pairs


def test_two_paths_are_parallel_files(tmp_path):
    (tmp_path / "s").write_text("a\tb\n\n", encoding="utf-8")
    (tmp_path / "t").write_text("x\ny\n", encoding="utf-8")
    origin = str(tmp_path / "s")
    assert list(read_pairs(tmp_path / "s", tmp_path / "t")) == [
        SentencePair("a\tb", "x", Place(origin, 1)),
        SentencePair("", "y", Place(origin, 2)),
    ]


def write(tmp_path, text):
    path = tmp_path / "pairs.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def texts(path, *arguments, **options):
    return [(pair.source, pair.target) for pair in read_pairs(path, *arguments, **options)]


class TestOneTabSeparatedFile:
    def test_two_columns(self, tmp_path):
        path = write(tmp_path, 'a b\t"c\n\t\n x \ty\n')
        assert texts(path) == [("a b", '"c'), ("", ""), (" x ", "y")]
        assert [str(pair.place) for pair in read_pairs(path)] == [f"{path}:{n}" for n in (1, 2, 3)]
        assert all(pair.features is None for pair in read_pairs(path))

    def test_any_two_columns_in_any_order(self, tmp_path):
        path = write(tmp_path, "a\tb\tc\nd\te\tf\n")
        assert texts(path, columns=(3, 1)) == [("c", "a"), ("f", "d")]

    def test_too_few_columns_names_the_place_and_shows_the_line(self, tmp_path):
        path = write(tmp_path, "a\tb\n" + "no tab here " * 20 + "\n")
        pairs = read_pairs(path)
        assert next(pairs).source == "a"
        with pytest.raises(DataError) as caught:
            next(pairs)
        message = str(caught.value)
        assert message.startswith(
            f"{path}:2: 1 column where columns 1 and 2 are needed, separated by tabs: 'no tab here no"
        )
        assert "…'; give both sides, in a second file or after a tab" in message

    def test_plain_text(self, tmp_path):
        with pytest.raises(DataError, match=r":1: 1 column where .*second file .*--task language_model"):
            texts(write(tmp_path, "one line\nanother\n"))

    def test_third_column_missing(self, tmp_path):
        with pytest.raises(DataError, match=r":1: 2 columns where columns 1 and 3 are needed"):
            texts(write(tmp_path, "a\tb\n"), columns=(1, 3))

    @pytest.mark.parametrize("columns", [(0, 1), (2, 2)])
    def test_columns_count_from_one_and_differ(self, tmp_path, columns):
        with pytest.raises(
            ConfigError, match=r"counted from 1 and differ, so . and . are not allowed"
        ) as caught:
            texts(write(tmp_path, "a\tb\n"), columns=columns)
        assert str(caught.value).endswith("as --columns 1 2 (data.columns = [1, 2])")

    def test_three_columns_that_nobody_named(self, tmp_path):
        path = write(tmp_path, "a\tb\tc d\n" * 3)
        with pytest.raises(DataError, match=r":1: 3 columns, and only columns 1 and 2 are read") as caught:
            texts(path)
        assert "--columns 1 2" in str(caught.value)
        assert "--features 2" in str(caught.value)

    def test_a_third_column_on_one_line_only(self, tmp_path):
        path = write(tmp_path, "a\tb\nc\td\te\n")
        with pytest.raises(DataError, match=r":2: 3 columns, .*--columns 1 2"):
            texts(path)
        assert texts(path, columns=(1, 2)) == [("a", "b"), ("c", "d")]

    def test_a_blank_column(self, tmp_path):
        path = write(tmp_path, "a\t\tx\nb\t \ty\n")
        with pytest.raises(DataError, match="column 2 is blank in the first 2 lines"):
            texts(path, columns=(1, 2))

    @pytest.mark.parametrize(
        "text",
        ["the\tDT\ncat\tNN\n\na\tDT\n", "1\tthe\t" + "\t".join("_" * 8) + "\n2\tcat\t" + "\t".join("_" * 8)],
        ids=["CoNLL", "CoNLL-U"],
    )
    def test_one_word_per_line(self, tmp_path, text):
        with pytest.raises(
            DataError, match=r"\(CoNLL\).*only taggers read such files, to train \(--task tag\)"
        ):
            texts(write(tmp_path, text))


SIGMORPHON = "".join(
    f"{lemma}\tpos=V,tense={tense},per={per}\t{lemma}{per}\n"
    for lemma in ("gehen", "ein haus")
    for tense in ("PST", "PRS")
    for per in (1, 2)
)
UNIMORPH = "".join(
    f"{lemma}\t{lemma}{per}\tV;{tense};{per};{{SG/PL}}\n"
    for lemma in ("GEHEN", "haus")
    for tense in ("PST", "V.PTCP")
    for per in (1, 2)
)


class TestFeatures:
    @pytest.mark.parametrize(
        ("text", "order", "first"),
        [
            (SIGMORPHON, "SIGMORPHON 2016", ("gehen", ("pos=V", "tense=PST", "per=1"), "gehen1")),
            (UNIMORPH, "UniMorph", ("GEHEN", ("V", "PST", "1", "{SG/PL}"), "GEHEN1")),
        ],
    )
    def test_are_recognised_in_either_order(self, tmp_path, text, order, first):
        notes = []
        pairs = list(read_pairs(write(tmp_path, text), listener=notes.append))
        assert len(pairs) == 8
        assert (pairs[0].source, pairs[0].features, pairs[0].target) == first
        [note] = notes
        assert order in note

    def test_blank_lines_between_lemmas(self, tmp_path):
        lines = UNIMORPH.splitlines()
        path = write(tmp_path, "\n".join([*lines[:4], "", *lines[4:], ""]))
        pairs = list(read_pairs(path))
        assert [pair.place.line for pair in pairs] == [1, 2, 3, 4, 6, 7, 8, 9]
        assert all(pair.features for pair in pairs)

    def test_a_column_that_is_named(self, tmp_path):
        path = write(tmp_path, "V|PST\trun\tran\nV\tgo\tgo\n\tgo\tgo\n")
        notes = []
        pairs = list(read_pairs(path, features=1, listener=notes.append))
        assert [(p.features, p.source, p.target) for p in pairs] == [
            (("V", "PST"), "run", "ran"),
            (("V",), "go", "go"),
            ((), "go", "go"),
        ]
        assert pairs[0].input == FeaturedText("run", ("V", "PST"))
        assert notes == []
        [pair, *_] = read_pairs(path, columns=(3, 2), features=1)
        assert (pair.source, pair.target) == ("ran", "run")

    def test_a_header_names_the_columns(self, tmp_path):
        path = write(tmp_path, "Form\tLemma\tcount\tFeatures\nran\trun\t7\tV;PST\n")
        notes = []
        [pair] = read_pairs(path, listener=notes.append)
        assert (pair.source, pair.features, pair.target) == ("run", ("V", "PST"), "ran")
        assert pair.place.line == 2
        assert "header" in notes[0]

    def test_a_header_without_a_name_for_the_target_is_no_pair(self, tmp_path):
        path = write(tmp_path, "Lemma\tTags\twordform\nrun\tV;PST\tran\ngo\tV\tgo\n")
        assert [(p.source, p.features, p.target) for p in read_pairs(path)] == [
            ("run", ("V", "PST"), "ran"),
            ("go", ("V",), "go"),
        ]

    @pytest.mark.parametrize(
        ("columns", "features"),
        [
            (None, "analysis"),  # the header says which are lemma and form
            (("lemma", "form"), "analysis"),
            (("lemma", "form"), 2),
            ((3, "form"), "2"),
            (("3", "1"), "analysis"),
        ],
    )
    def test_columns_by_their_names(self, tmp_path, columns, features):
        path = write(tmp_path, "form\tanalysis\tlemma\nran\tV;PST\trun\n")
        notes = []
        [pair] = read_pairs(path, columns=columns, features=features, listener=notes.append)
        assert (pair.source, pair.features, pair.target) == ("run", ("V", "PST"), "ran")
        assert pair.place.line == 2
        assert len(notes) == (columns is None)  # a note says what was recognised

    def test_names_without_features(self, tmp_path):
        path = write(tmp_path, "English\tid\tFrench\na\t1\tb\n")
        [pair] = read_pairs(path, columns=("French", "English"))
        assert (pair.source, pair.target, pair.features) == ("b", "a", None)

    def test_a_name_that_the_header_does_not_have_once(self, tmp_path):
        path = write(tmp_path, "lemma\ttags\ttext\ttext\na\tV\tb\tc\n")
        with pytest.raises(
            DataError,
            match=r"its first line has no column 'tag'; did you mean 'tags'.*or give the column's number",
        ):
            texts(path, features="tag")
        with pytest.raises(DataError, match=r"has several columns 'text'; .*; or give the column's number"):
            texts(path, columns=("lemma", "text"))

    def test_columns_that_are_named_without_features_have_none(self, tmp_path):
        assert next(iter(read_pairs(write(tmp_path, SIGMORPHON), columns=(1, 3)))).features is None

    def test_a_text_in_capitals_is_no_features(self, tmp_path):
        path = write(tmp_path, "a house\tune maison\tA HOUSE, RED\n" * 30)
        with pytest.raises(DataError, match="3 columns, and only columns 1 and 2 are read"):
            texts(path)

    def test_forms_that_are_named_as_features(self, tmp_path):
        path = write(tmp_path, "".join(f"l{n}\tV;{n % 3}\tform{n}\n" for n in range(30)))
        with pytest.raises(DataError, match=r"column 3 has 30 different symbols in 30 lines.*--features"):
            texts(path, features=3)
        assert len(texts(path, features=2)) == 30

    def test_a_few_lines_with_many_features_each(self, tmp_path):
        """As the 20 first lines of a validation set: 20 different features, each in seven lines."""
        rows = (";".join(f"F{(n + 3 * k) % 20}" for k in range(7)) for n in range(20))
        path = write(tmp_path, "".join(f"l{n}\t{row}\tform{n}\n" for n, row in enumerate(rows)))
        assert len(texts(path, features=2)) == 20

    @pytest.mark.parametrize(
        ("features", "text", "message"),
        [
            (2, "a\tV\n" * 2, "2 columns; beside features in column 2, name those of source and target"),
            (2, "a\tV\tb\tc\n" * 2, "4 columns; beside features in column 2"),
            (2, "a\t\tb\n" * 2, "column 2 is blank in the first 2 lines"),
            (5, "a\tV\tb\n" * 2, "3 columns; beside features in column 5"),
        ],
    )
    def test_columns_that_cannot_be(self, tmp_path, features, text, message):
        with pytest.raises(DataError, match=message):
            texts(write(tmp_path, text), features=features)

    def test_a_column_below_one_or_named_twice(self, tmp_path):
        for columns, features in ((None, 0), ((1, 2), 2)):
            with pytest.raises(ConfigError, match="counted from 1 and differ"):
                texts(write(tmp_path, SIGMORPHON), columns=columns, features=features)

    def test_belong_to_one_file(self):
        with pytest.raises(ConfigError, match=r"--features 2 \(data\.features = 2\) belongs to one tab-sep"):
            texts("s", "t", features=2)

    def test_of_a_model_are_recognised_by_name(self, tmp_path):
        path = write(tmp_path, "run\tx\tran\ngo\ty\twent\n")
        [pair, _] = read_pairs(path, known=("x", "y"))
        assert pair.features == ("x",)
        with pytest.raises(
            DataError, match=r"no column of features.*trained with features \(p, q\).*--features 2"
        ):
            texts(path, known=("p", "q"))
        with pytest.raises(DataError, match=r"column 2 has none of the model's features \(p\) but x, y"):
            texts(path, known=("p",), features=2)

    def test_of_a_model_without(self, tmp_path):
        path = write(tmp_path, SIGMORPHON)
        with pytest.raises(DataError, match="3 columns, and only columns 1 and 2 are read"):
            texts(path, known=())
        with pytest.raises(ConfigError, match="--features 2: this model was trained without features"):
            texts(path, known=(), features=2)

    def test_two_files_have_none(self, tmp_path):
        (tmp_path / "s").write_text("run\n")
        with pytest.raises(
            DataError, match="two files of plain text, and this model was trained with features"
        ):
            texts(tmp_path / "s", tmp_path / "s", known=("V",))


def test_columns_of_parallel_files_make_no_sense():
    with pytest.raises(ConfigError, match=r"--columns 1 3 \(data\.columns = \[1, 3\]\) belongs to one"):
        list(read_pairs("s", "t", columns=(1, 3)))


def test_as_many_lines_out_as_in(tmp_path):
    (tmp_path / "a").write_text("\n\none\n \n", encoding="utf-8")
    (tmp_path / "b").write_text("two", encoding="utf-8")
    assert list(read_lines([tmp_path / "a", tmp_path / "b"])) == ["", "", "one", " ", "two"]
    assert list(read_lines([])) == []


def test_files_are_read_as_they_are_needed(tmp_path):
    (tmp_path / "a").write_text("one\n", encoding="utf-8")
    assert next(read_lines([tmp_path / "a", tmp_path / "missing"])) == "one"


def test_two_tables_are_not_parallel_texts(tmp_path):
    path = write(tmp_path, "a\tb\nc\td\n")
    (tmp_path / "plain").write_text("x\ny\n")
    for files in ((path, path), (path, tmp_path / "plain"), (tmp_path / "plain", path)):
        with pytest.raises(DataError, match=r"pairs.tsv: 2 columns, .*name this file alone.*--columns 1 2"):
            list(read_pairs(*files))


def test_lines_of_plain_text_have_no_columns(tmp_path):
    with pytest.raises(DataError, match=r"2 columns, separated by tabs, where plain text.*cut -f 1"):
        list(read_lines([write(tmp_path, "a\tb\nc\td\n")]))
