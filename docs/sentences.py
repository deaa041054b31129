"""Write sentences.md, abstracts and conclusions by claim, from sentences.json and the verdicts."""

from __future__ import annotations

import json
from pathlib import Path

from aucert.validation import suite
from aucert.validation.claims.verdicts import PAPERS

HERE = Path(__file__).resolve().parent
PARTS = ("abstract", "conclusion")
HEAD = """# Abstracts and conclusions, sentence by sentence

What each abstract and each conclusion says, in the paper's words, and the claims that judge it. A
sentence that no claim judges says why; where a printed form fails, the corrected one stands beside
it. [The verdicts](verdicts.md) have the claims in full; `aucert validate --only NAME` judges one
of them again.

```text
python docs/sentences.py
```
"""


def sentences() -> list[dict[str, object]]:
    """Return the sentences: paper, part, words, names of claims and a remark."""
    return json.loads((HERE / "sentences.json").read_text(encoding="utf-8"))


def page() -> str:
    """Return the whole page."""
    verdicts = {entry.name: str(entry.expected_verdict) for entry in suite.claims()}
    lines = [HEAD]
    for paper in PAPERS:
        lines += [f"## {paper}", "", "| where | the paper's words | judged by |", "|---|---|---|"]
        for part in PARTS:
            for row in sentences():
                if (row["paper"], row["part"]) == (paper, part):
                    lines.append(f"| {part} | {row['sentence']} | {_judges(row, verdicts)} |")
        lines.append("")
    return "\n".join(lines)


def _judges(row: dict[str, object], verdicts: dict[str, str]) -> str:
    names = row["claims"]
    assert isinstance(names, list)
    found = [f"`{name}`: **{verdicts[name]}**" for name in names] or ["*no claim*"]
    return f"{'; '.join(found)}. {row['remark']}".strip()


if __name__ == "__main__":
    (HERE / "sentences.md").write_text(page(), encoding="utf-8")
