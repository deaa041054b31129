"""Links of the pages: they lead to sources, so that they work in a clone that is not built.

When the site is built, a link to a tutorial's script leads to its page, one to the `__init__.py` of
a package to its API page, and one to any other file outside `docs/` becomes the name of that file.
"""

from __future__ import annotations

import posixpath
import re

LINK = re.compile(r"\[([^\[\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
THUMBNAIL = re.compile(r":alt:[ \t]*\n(.*?thumbnail-title\">)([^<]*)<", re.DOTALL)


def for_site(text: str, docname: str) -> str:
    """Return the source of a page with its links as the site needs them.

    Parameters
    ----------
    text : str
        Markdown.
    docname : str
        The page, from `docs/`, without its suffix.
    """
    return LINK.sub(lambda found: _link(found, posixpath.dirname(docname)), text)


def _link(found: re.Match[str], folder: str) -> str:
    words, address, anchor = found[1], found[2], found[3] or ""
    if ":" in address:
        return found[0]
    path = posixpath.normpath(posixpath.join(folder, address))
    package = re.fullmatch(r"\.\./(exact|approx|validation)/__init__\.py", path)
    tutorial = re.fullmatch(r"tutorials(?:/(\w+)\.py)?", path)
    if package:
        path = f"_api/{package[1]}"
    elif tutorial:
        path = f"_tutorials/{tutorial[1] or 'index'}"
    elif path.startswith("../"):
        return f"{words} (`{path[3:]}` in the clone)"
    else:
        return found[0]
    return f"[{words}]({posixpath.relpath(path, folder or '.')}{anchor})"


def with_alt_text(text: str) -> str:
    """Return the gallery's source with the title of each tutorial as the text of its thumbnail."""
    return THUMBNAIL.sub(r":alt: First picture of the tutorial: \2\n\1\2<", text)
