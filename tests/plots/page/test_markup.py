from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from regard.plots.html import Markup, element, join


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.seen.append(data)


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader.seen


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "a < b", element("b", "&")) == "<p>a &lt; b<b>&amp;</b></p>"
    assert join(["<", Markup("<br>")]) == "&lt;<br>"


def test_attributes():
    assert element("td", class_="x", aria_label='say "hi"', style=None, x=1.5) == (
        '<td class="x" aria-label="say &quot;hi&quot;" x="1.5"></td>'
    )


# HTML reads a carriage return as a line feed, and knows no null character
text = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\0"), min_size=1)


@given(text, text)
def test_any_text_comes_back_as_text(child, value):
    (tag, attributes), *data = read(element("p", child, title=value))
    assert (tag, attributes) == ("p", {"title": value})
    assert "".join(data) == child
