"""What an isl object stands for, so that mypy refuses a placement where an access relation belongs.

Each kind is the isl type itself at run time.
"""

from __future__ import annotations

from typing import NewType

import islpy as isl

InstanceSet = NewType("InstanceSet", isl.Set)
"""`[PE_X, PE_Y, index...] -> { ff[i, j] }`: the instances that a task runs."""

AccessRelation = NewType("AccessRelation", isl.Map)
"""`{ ff[i, j] -> y[i] }`: the tensor elements that an instance accesses."""

Placement = NewType("Placement", isl.Map)
"""`{ ff[i, j] -> PE[x, y] }`: the PE that runs an instance."""

Order = NewType("Order", isl.Map)
"""`{ x[i] -> index[i] }`: the index values that come along with a tensor element."""

Allocation = NewType("Allocation", isl.Map)
"""`[PE_X, PE_Y] -> { y[i] -> y_local[l] }`: where a PE keeps a tensor element."""

Compression = NewType("Compression", isl.Map)
"""`[PE_X, PE_Y, index...] -> { [i0] -> ff[i, j] }`: compressed to original instances."""

Context = NewType("Context", isl.Set)
"""`[PE_X, PE_Y, index...] -> { : ... }`: what is known about the symbolic constants."""
