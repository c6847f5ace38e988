"""LAIR: grammar, tree, checks."""

from lairmake.stages.lair.expressions import FUNCTIONS, is_zero_at, write_expression
from lairmake.stages.lair.grammar import parse_expression, parse_lair
from lairmake.stages.lair.layer import Layer, Statement, Tensor
from lairmake.stages.lair.specialise import specialise
from lairmake.stages.lair.tree import AccessSyntax, Affine

__all__ = [
    "FUNCTIONS",
    "AccessSyntax",
    "Affine",
    "Layer",
    "Statement",
    "Tensor",
    "is_zero_at",
    "parse_expression",
    "parse_lair",
    "specialise",
    "write_expression",
]
