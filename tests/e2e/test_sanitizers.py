"""The engine and all programs under the address, leak and undefined behaviour sanitizers."""

import pytest

from tests.e2e.sanitized import ROOT, run_sanitized, sanitizer

pytestmark = [
    pytest.mark.skipif(sanitizer() is None, reason="the C compiler has no sanitizers"),
    pytest.mark.optimised,
    pytest.mark.xdist_group("shipped"),
]
RUNS = ("run_fabric(library", "stop(library")
ON_X = "vector_run(pe, &my->on_x, &my->y_local[0]"
FAULTS = {
    "an element of the next PE": (
        "simd", ON_X, f"*(char *)(my + 1) = 1; {ON_X}", "use-after-poison",
    ),
    "an element of the PE before": (
        "simd", ON_X, f"*(char *)(my - 1) = 1; {ON_X}", "AddressSanitizer",
    ),
    "a loop that is too long": (
        "loops", "i <= 8 * PE_Y + 7", "i <= 8 * PE_Y + 8", "index 8 out of bounds",
    ),
    "memory that nobody frees": (
        "loops", '#include "pe.h"', '#include "pe.h"\n#include <stdlib.h>\n'
        "#define wavelet_index(w) (*(int *)malloc(4) = wavelet_index(w))", "leaks memory",
    ),
}


@pytest.mark.wide
@pytest.mark.parametrize("which", ["not long", pytest.param("long", marks=pytest.mark.long)])
def test_the_engine_is_clean(which):
    """Run all tests that run the engine on programs by hand; the long ones of all."""
    tests = [p for p in (ROOT / "tests/fabric").glob("test_*.py")
             if which == "long" or any(run in p.read_text("utf-8") for run in RUNS)]
    assert tests
    options = ["-q", "-m", which, "-p", "no:cacheprovider", "-p", "tests.e2e.sanitized"]
    done = run_sanitized("pytest", *options, "--assert=plain", *map(str, sorted(tests)))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.wide
@pytest.mark.parametrize("nth", [27, pytest.param(1, marks=pytest.mark.long)])
def test_every_nth_shipped_layer_is_clean_and_gives_the_same(shipped, nth):
    """One process simulates them; what it writes is what programs without sanitizers gave."""
    folders = [shipped.built(name) for name in shipped.names[::nth]]
    before = [contents(folder / "build") for folder in folders]
    done = run_sanitized("tests.e2e.sanitized", *map(str, folders))
    assert done.returncode == 0, done.stdout + done.stderr
    assert [contents(folder / "build") for folder in folders] == before


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.wide
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(shipped, fault):
    variant, old, new, message = FAULTS[fault]
    folder = shipped.rendered("fc", fault)
    program = folder / f"build/{variant}/pe_compute.c"
    text = program.read_text(encoding="utf-8")
    assert old in text
    program.write_text(text.replace(old, new), encoding="utf-8")
    done = run_sanitized("tests.e2e.sanitized", str(folder))
    assert done.returncode != 0
    assert message in done.stderr
