"""The tool that plants mutants: each is one change, the same each time, and is put back."""

import ast
import runpy
from pathlib import Path
from types import SimpleNamespace

mutants = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("mutants.py"))))
SOURCE = '''
def clip(x: int | None, low):
    """Text."""
    if x is None or x < low:
        raise ValueError("a" + "b")
    return max(x - low, -1)


LIMIT = 3 + 4
'''


def test_each_mutant_is_one_change_inside_a_function(tmp_path: Path) -> None:
    (tmp_path / "exact").mkdir()
    (tmp_path / "exact" / "one.py").write_text(SOURCE)
    found = mutants.mutants_of(tmp_path, mutants.Area(("exact",), ()))
    kinds = {m.kind for m in found}
    wanted = {"Or to And", "Is to IsNot", "Lt to LtE", "max to min", "Sub to Add", "without USub"}
    assert kinds == wanted and len({m.key for m in found}) == len(found)
    plain = ast.unparse(ast.parse(SOURCE))
    texts = {mutants.planted(SOURCE, m) for m in found}
    assert len(texts) == len(found) and plain not in texts
    for text in texts:
        same = zip(text.splitlines(), plain.splitlines(), strict=True)
        assert sum(a != b for a, b in same) == 1


def test_the_draw_is_the_same_each_time_and_every_area_has_files() -> None:
    first = mutants.drawn(mutants.ROOT, "proof", 5, mutants.SEED)
    assert first == mutants.drawn(mutants.ROOT, "proof", 5, mutants.SEED) and len(first) == 5
    for name, area in mutants.AREAS.items():
        for path in (*area.files, area.tests[0]):
            assert (mutants.ROOT / path).exists(), (name, path)
