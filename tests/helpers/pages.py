"""Pages of HTML as the tests look at them."""

from html.parser import HTMLParser

VOID = {"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
FETCHED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """Tags, ids, links, pictures without a text, what a browser fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.without_alt: list[str] = []
        self.fetched: list[str] = []
        self.crossed = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self.tags.append(tag)
        self.ids += [values[key] for key in ("id", "name") if key in values]
        if tag not in VOID:
            self.open.append(tag)
        if tag != "link":
            self.links += [v for key, v in values.items() if v and key.endswith("href")]
        if tag in FETCHED and values.get("rel") not in ("canonical", "author"):
            self.fetched.append(values.get(FETCHED[tag], ""))
        if tag == "img" and "article" in self.open and not values.get("alt"):
            self.without_alt.append(values.get("src", ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        self.crossed |= self.open[-1:] != [tag]
        while tag in self.open and self.open.pop() != tag:
            pass
