"""Random expressions: many of them one vector operation, the others anything LAIR has."""

PLAIN = {0: ("2",), 1: ("{0}", "{0}", "2 * {0}"), 2: ("{0} * {1}",), 3: ("{0} * {1} * {2}",)}
"""Expressions by how many tensors they read: mostly, one vector operation if they are summed."""

PAIRS = ("{0} * {1}", "{0} + {1}", "{0} - {1}", "max({0}, {1})", "min({0}, {1})")
ONE = ("-{0}", "{0} + 1", "{0} * {0}", "3 - {0}", "-(2 - {0}) * 3", "1 + -{0}")
TWO = (
    *PAIRS, "2 * {0} * {1}", "{0} * {1} + 1", "{0} * ({1} - 1)", "min({0}, {1}) + {0}",
    "{0} * -{1}", "-({0} + {1})",
)
THREE = (
    "{0} * {1} + {2}", "{0} * {1} * {2}", "{0} * ({1} + {2})", "{0} + {1} - {2}",
    "max({0} * {1}, {2})", "{0} * {1} - 2 * {2}", "{0} - ({1} - {2})",
)
WRAPPED = {"{}": 80, "relu({})": 12, "abs({})": 8}
ROUNDED = ("exp({} / 8)", "sqrt(abs({}))", "tanh({})", "{} / 4", "0.5 * {}", "{} / (1 + abs({}))")


def random_expression(rng, tensors, op, exact):
    """Return an expression in which each tensor stands as `{tensor}`."""
    if exact and rng.random() < 0.7:
        plain = PAIRS if op == "=" and len(tensors) == 2 else PLAIN[len(tensors)]
        return _filled(rng.choice(plain), [f"{{{t}}}" for t in tensors])
    wrapped = [_wrapped(rng, f"{{{t}}}") for t in tensors]
    if not exact:
        wrapped = [rng.choice(ROUNDED).replace("{}", t) for t in wrapped]
    return _filled(rng.choice({0: ("-3",), 1: ONE, 2: TWO, 3: THREE}[len(tensors)]), wrapped)


def _filled(pattern, terms):
    for position, term in enumerate(terms):
        pattern = pattern.replace(f"{{{position}}}", term)
    return pattern


def _wrapped(rng, term):
    return rng.choices(list(WRAPPED), list(WRAPPED.values()))[0].format(term)
