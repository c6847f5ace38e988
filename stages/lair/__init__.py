"""LAIR: grammar, tree, checks."""

from stages.lair.expressions import FUNCTIONS, is_zero_at, write_expression
from stages.lair.grammar import parse_expression, parse_lair
from stages.lair.layer import Layer, Statement, Tensor
from stages.lair.specialise import specialise
from stages.lair.tree import Access, Affine

__all__ = [
    "FUNCTIONS",
    "Access",
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
