"""Pages at their ends: nothing run, little run, and what they conclude by themselves."""

from __future__ import annotations

from aucert.validation.effects import said_on
from aucert.validation.tables.pages import NOTHING, TOO_LITTLE, Shown
from aucert.validation.tables.run import tables
from aucert.validation.tables.sauc import PLAIN, STRUCTURED, SVM
from aucert.validation.tables.table import Results, Run, Table
from loops import each


def shown(table: Table, count: int, record: dict[str, float]) -> Shown:
    """Return the page where only the first parts were run, and gave these numbers."""
    run = Run()
    spent = table.experiment.spent("quick")
    parts = tuple(table.experiment.parts(run, spent))
    done = {part.key: record for part in parts[:count]}
    made = {"seconds": 1.0, "environment": {}, "key": {"data_sha256": {}}}
    documents = dict.fromkeys(done, made)
    return Shown.of(table, Results(run, spent, parts, done), documents, said_on)


@each("name", list(tables()))
def test_a_table_without_results_concludes_nothing(name: str) -> None:
    assert shown(tables()[name], 0, {}).conclusion == NOTHING


def test_a_few_parts_leave_the_statements_undecided() -> None:
    page = shown(tables()["sauc-fig-4"], 1, {f"auc {m}": 0.8 for m in (SVM, PLAIN, STRUCTURED)})
    assert page.conclusion.startswith("Undecided: ")
    assert {said.verdict for said in page.said} == {"undecided"}


def test_a_page_without_statements_and_words_says_that_little_was_run() -> None:
    table = tables()["sauc-table-2"]
    run, spent = Run(), table.experiment.spent("quick")
    parts = tuple(table.experiment.parts(run, spent))
    made = {"seconds": 1.0, "environment": {}, "key": {"data_sha256": {}}}
    page = Shown.of(table, Results(run, spent, parts, {parts[0].key: {}}), {parts[0].key: made})
    assert page.conclusion == TOO_LITTLE
