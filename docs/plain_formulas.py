"""Formulas that the sources write as plain text in backticks, set as formulas on the site.

`errata.md` and `formulas.md` are read in a clone, too, so they write `|f^_B - f^|^2 <= 2/lam`. What
is not a formula (a name in the code, a place in a paper) stays as it is. So does what cannot be
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

PAGES = ("errata", "formulas")
"""Pages whose spans in backticks are formulas, unless they are names."""

SPAN = re.compile(r"(?<![`\\])`([^`]+)`(?!`)")
TOKEN = re.compile(r"\s+|\d+(?:,\d{3})+|\d*\.?\d+|\.\.\.|<=|>=|<<|>>|<-|[A-Za-z]+|\S")
NOT_A_FORMULA = re.compile(
    r"aucert|claim:|table:|formal:|tests/|\[\w+,|eq\.|(Fig|Prop|Def)\. |(Section|Table|Theorem"
    r"|Lemma|Algorithm|Assumption) |(ScalingUp|SAUC|SHT|Nonlinear)$|while|if |swap|Select|inv$"
)
GREEK = "alpha beta gamma delta eps eta theta kappa lambda nu rho sigma tau phi Sigma Omega".split()
SYMBOLS = {name: rf"\{name} " for name in GREEK} | {
    "lam": r"\lambda ",
    "eps": r"\varepsilon ",
    "xbar": r"\bar{x}",
    "grad": r"\nabla ",
    "in": r"\in ",
    "sum": r"\sum ",
    "<=": r"\le ",
    ">=": r"\ge ",
    "<<": r"\ll ",
    ">>": r"\gg ",
    "<-": r"\leftarrow ",
    "<": r"\lt ",
    ">": r"\gt ",
    "...": r"\ldots ",
    "{": r"\{",
    "}": r"\}",
    "|": r"\vert ",
    "*": r"\cdot ",
}
FUNCTIONS = {"log", "ln", "max", "min", "exp"}
WORDS = set("over of for and mean the class classes blocks supports same cluster point on".split())
UPRIGHT = {"TPR", "FPR", "JI", "supp", "askip", "rskip"}
CLOSING = {"(": ")", "[": "]"}


class UnreadError(Exception):
    """The text is not a formula of this plain notation."""


def typeset(text: str) -> str:
    """Return Markdown with its formulas in backticks as formulas between dollars.

    Headings, whose text makes their anchors, and fenced blocks stay as they are.
    """
    parts = re.split(r"(^#.*$|^```[\s\S]*?^```$)", text, flags=re.MULTILINE)
    for k in range(0, len(parts), 2):
        parts[k] = SPAN.sub(_span, parts[k])
    return "".join(parts)


def _span(found: re.Match[str]) -> str:
    made = latex(" ".join(found[1].replace("\\|", "|").split()))
    return found[0] if made is None else f"${made}$"


def latex(plain: str) -> str | None:
    """Return a formula in LaTeX; None for what is not a formula."""
    if NOT_A_FORMULA.match(plain):
        return None
    reader = _Reader(TOKEN.findall(plain))
    try:
        return re.sub(r" +", " ", reader.read(lambda token: token is None)).strip()
    except UnreadError:
        return None


class _Reader:
    """Reads tokens from left to right; each symbol takes its accents and scripts with it."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self, ahead: int = 0) -> str | None:
        at = self.at + ahead
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def take(self) -> str:
        token = self.peek()
        if token is None:
            raise UnreadError
        self.at += 1
        return token

    def read(self, ends: Callable[[str | None], bool]) -> str:
        """Return all until a token that ends it, which is taken, too."""
        out = ""
        while not ends(self.peek()):
            out += self.symbol()
        self.at += 1
        return out

    def group(self) -> str:
        """Return what stands between the bracket here and the one that closes it."""
        close = CLOSING[self.take()]
        return self.read(lambda token: token == close)

    def symbol(self) -> str:
        """Return one symbol with its scripts."""
        token = self.take()
        if token.isspace():
            return " "
        if token in CLOSING:
            self.at -= 1
            return self.scripts(f"{token}{self.group()}{CLOSING[token]}")
        if token == "sqrt":
            self.at += self.peek() == " "
            return rf"\sqrt{{{self.group() if self.peek() == '(' else self.take()}}}"
        if token[0].isalpha():
            return self.scripts(self.name(token))
        if token == "<" and (self.peek() or " ") not in " =":
            return r"\langle "
        if token == ">" and self.peek(-2) != " ":
            return self.scripts(r"\rangle ")
        if token in "|}" or token[0].isdigit() or token[0] == ".":
            return self.scripts(SYMBOLS.get(token, token.replace(",", "{,}")))
        if token in SYMBOLS or token in "+-=/,;":
            return SYMBOLS.get(token, token)
        raise UnreadError

    def name(self, token: str) -> str:
        times = token == "x" and self.peek(-2) == " " and self.peek() == " "
        if times and (self.peek(-3) or "=") not in "=+-(,|" and (self.peek(1) or "=") not in "=<>":
            return r"\times "
        if token in SYMBOLS:
            return SYMBOLS[token]
        if token in FUNCTIONS:
            return rf"\{token} "
        if token in WORDS:
            return rf"\text{{ {token} }}"
        if token in UPRIGHT or (token == "F" and self.peek() == "1"):
            return rf"\mathrm{{{token}}}"
        if len(token) > 2 and token not in ("Mw", "bd"):
            raise UnreadError
        return token

    def scripts(self, base: str) -> str:
        """Return the symbol with the accents, indices and exponents that follow it."""
        above = below = ""
        while True:
            token, after = self.peek(), self.peek(1)
            if token == "'":
                self.at += 1
                above += r"\prime "
            elif token == "~":
                self.at += 1
                base = rf"\tilde{{{base}}}"
            elif token == "^" and not (after and (after in "(+-" or after[0].isalnum())):
                self.at += 1
                base = rf"\hat{{{base}}}"
            elif token == "^":
                self.at += 1
                above += self.script()
            elif token == "_":
                self.at += 1
                below += self.script()
            elif token and token in "+-*" and self.signed(after):
                self.at += 1
                above += token
            else:
                break
        below = f"_{{{below}}}" if below else ""
        return f"{base}{below}" + (f"^{{{above}}}" if above else "")

    def signed(self, after: str | None) -> bool:
        """Whether the sign here belongs to the symbol before it, as in `n+` and `k*`."""
        return after is None or after.isspace() or after in "),]}/_|'(^;" or after == "..."

    def script(self) -> str:
        """Return an index or exponent: a group in brackets, a name, a number or a sign."""
        if self.peek() == "(":
            return self.group()
        token = self.take()
        if token in "+-*":
            return token
        if token in FUNCTIONS | UPRIGHT:
            return rf"\mathrm{{{token}}}"
        if token in SYMBOLS:
            token = SYMBOLS[token]
        elif not token[0].isalnum():
            raise UnreadError
        if (
            self.peek() == "," and (self.peek(1) or " ").isalpha()
        ):  # the rows and columns of a block
            return f"{token}{self.take()}{self.script()}"
        return f"{token}_{{{self.script()}}}" if self.peek() == "_" and self.take() else token
