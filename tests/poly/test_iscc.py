"""Texts of unions are read as isl reads them."""

import islpy as isl
import pytest

from lairmake.stages.poly.iscc import parse


def test_sets_of_different_names_are_read_one_by_one():
    """As isl reads them together, whatever was read before."""
    texts = [
        "{ a[i] : 0 <= i < 4; b[i] : 0 <= i < 4; c[i, j] : j = 2i }",
        "{\n  b[0, j] : 0 <= j <= 3;\n  a[];\n  c[i] : (i) mod 3 = 0 or i = 1\n}",
        "{ a[i] : i = 1; a[i] : i = 5; b[i] }",
        "{ a[i]; [b[i] -> c[j]] : i < j }",
        "[n] -> { a[i] : i < n; b[i] : i > n }",
        "{ a[i] : exists e : i = 2e; b[i] : 5*floor((i)/3) <= i }",
    ]
    for text in texts:
        assert str(parse(text, 1)) == str(isl.UnionSet(text)) == str(parse(text, 1))
    with pytest.raises(ValueError, match=r"line 3: isl cannot read '\{ a\[i\]; b\[j\] : i = 1 \}'"):
        parse("{ a[i]; b[j] : i = 1 }", 3)
