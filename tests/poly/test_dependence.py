"""Which dimensions of its argument a function depends on."""

import islpy as isl
import pytest

from lairmake.stages.poly.functions import depends_on


@pytest.mark.parametrize(("text", "wanted"), [
    ("{ A[i, j] -> B[i + 1, 2j, 3] : 0 <= i < 4 and 0 <= j < i }", [{0}, {1}, set()]),
    ("{ A[i, j] -> B[i + j] }", [{0, 1}]),
    ("{ A[i, j] -> B[i] : j < 3; A[i, j] -> B[j] : j >= 3 }", [{0, 1}]),
    ("{ A[i] -> B[floor(i/2)] }", [{0}]),
    ("{ A[] -> B[] }", []),
])
def test_dimensions_that_the_domain_alone_has_do_not_count(text, wanted):
    assert depends_on(isl.Map(text)) == wanted
