import lzma

from regard.recipes import RECIPES


def test_cmudict_is_read_without_stress_variants_numbers_and_comments(tmp_path):
    lines = [f"w{'abcdefghij'[k % 10]}{'abcdefghij'[k // 10]} W AH0" for k in range(60)]
    lines += ["read R EH1 D # past", "read(2) R IY1 D", "read(3) R IY2 D", "o'er AO1 R", "3d TH R IY1 D IY1"]
    path = tmp_path / "cmudict" / "cmudict.dict.xz"
    path.parent.mkdir()
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))
    corpus = RECIPES["cmudict"].arms[0].corpus(tmp_path, tmp_path / "made")
    parts = (*corpus.train, *corpus.valid, *corpus.tests["test"])
    entries = [line for part in parts for line in part.read_text(encoding="utf-8").splitlines()]
    assert len(entries) == len(set(entries)) == 63
    assert {"read\tR EH D", "read\tR IY D", "o'er\tAO R", "waa\tW AH"} <= set(entries)
