"""Layers whose accesses are counted: on 16 x 16 PEs, in tiles that take a step each.

Source   M Sec. IV: the
         first one; the others are what is not shown there
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.evaluation.measure import Case

SIDE = 16
MEMORY = 1024
"""Bytes of a PE, as in the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A layer of one statement `s`, on a grid of so many PEs a side, with the time of each tile."""

    name: str
    tensors: str
    loops: str
    body: str
    place: str
    steps: str
    side: int = SIDE

    def case(self) -> Case:
        """Return the layer as a case."""
        iterators = self.loops.partition(")")[0].strip("( ")
        lair = f"lair s(): {self.tensors}\n{{\n  all {self.loops}\n    {self.body}\n}}\n"
        return Case(
            name=self.name,
            lair=lair,
            mapping={
                "machine": {"profile": "wse2", "memory": MEMORY},
                "target": f"{{ PE[{self.side}, {self.side}] }}",
                "placement": f"{{ s[{iterators}] -> PE[{self.place}] }}",
                "schedule": f"{{ s[{iterators}] -> [{self.steps}] }}",
            },
        )


def matmul(side: int = SIDE, steps: str = "") -> Counted:
    """Return a product of 1024 x 1024 matrices in tiles of 4 x 8 x 8."""
    return Counted(
        name="matmul",
        tensors="float32 A[1024][1024], float32 B[1024][1024] -> float32 C[1024][1024]",
        loops="(i, j, k) in (1024, 1024, 1024)",
        body="C[i][j] += A[i][k] * B[k][j]",
        place=f"(i//4) mod {side}, (j//8) mod {side}",
        steps=steps or f"i//{4 * side}, j//{8 * side}, k//8",
        side=side,
    )


LAYERS = (
    matmul(),
    Counted(
        name="matmul, k outermost",
        tensors="float32 A[1024][1024], float32 B[1024][1024] -> float32 C[1024][1024]",
        loops="(i, j, k) in (1024, 1024, 1024)",
        body="C[i][j] += A[i][k] * B[k][j]",
        place="(i//4) mod 16, (j//8) mod 16",
        steps="k//8, i//64, j//128",
    ),
    Counted(
        name="matmul, sums over PEs",
        tensors="float32 A[1024][1024], float32 B[1024][1024] -> float32 C[1024][1024]",
        loops="(i, j, k) in (1024, 1024, 1024)",
        body="C[i][j] += A[i][k] * B[k][j]",
        place="(k//8) mod 16, (j//8) mod 16",
        steps="k//128, j//128, i//4",
    ),
    Counted(
        name="matmul_batched",
        tensors="float32 A[16][256][256], float32 B[16][256][256] -> float32 C[16][256][256]",
        loops="(b, i, j, k) in (16, 256, 256, 256)",
        body="C[b][i][j] += A[b][i][k] * B[b][k][j]",
        place="(i//4) mod 16, (j//8) mod 16",
        steps="b, i//64, j//128, k//8",
    ),
    Counted(
        name="matvec",
        tensors="float32 W[4096][4096], float32 x[4096] -> float32 y[4096]",
        loops="(i, j) in (4096, 4096)",
        body="y[i] += W[i][j] * x[j]",
        place="(j//8) mod 16, (i//8) mod 16",
        steps="i//128, j//128",
    ),
    Counted(
        name="outer_product",
        tensors="float32 u[4096], float32 v[4096] -> float32 A[4096][4096]",
        loops="(i, j) in (4096, 4096)",
        body="A[i][j] = u[i] * v[j]",
        place="(j//8) mod 16, (i//8) mod 16",
        steps="i//128, j//128",
    ),
    Counted(
        name="conv1d",
        tensors="float32 x[64][1026], float32 w[256][64][3] -> float32 y[256][1024]",
        loops="(k, i, c, r) in (256, 1024, 64, 3)",
        body="y[k][i] += x[c][i + r] * w[k][c][r]",
        place="(i//8) mod 16, (k//4) mod 16",
        steps="k//64, i//128, c//4",
    ),
    Counted(
        name="conv2d",
        tensors="float32 x[32][66][66], float32 w[64][32][3][3] -> float32 y[64][64][64]",
        loops="(k, i, j, c, r, s) in (64, 64, 64, 32, 3, 3)",
        body="y[k][i][j] += x[c][i + r][j + s] * w[k][c][r][s]",
        place="j//4, i//4",
        steps="k//4, c",
    ),
    Counted(
        name="conv2d_pointwise",
        tensors="float32 x[64][64][256], float32 w[256][256] -> float32 y[64][64][256]",
        loops="(i, j, k, c) in (64, 64, 256, 256)",
        body="y[i][j][k] += x[i][j][c] * w[c][k]",
        place="(j//4) mod 16, (k//8) mod 16",
        steps="i, k//128, c//8",
    ),
    Counted(
        name="conv2d_depthwise",
        tensors="float32 x[64][66][66], float32 w[64][3][3] -> float32 y[64][64][64]",
        loops="(c, i, j, r, s) in (64, 64, 64, 3, 3)",
        body="y[c][i][j] += x[c][i + r][j + s] * w[c][r][s]",
        place="j//4, i//4",
        steps="c",
    ),
    Counted(
        name="stencil2d_9point",
        tensors="float32 x[1026][1026], float32 c[3][3] -> float32 y[1024][1024]",
        loops="(i, j, r, s) in (1024, 1024, 3, 3)",
        body="y[i][j] += x[i + r][j + s] * c[r][s]",
        place="j//64, i//64",
        steps="(i//8) mod 8, (j//8) mod 8",
    ),
    Counted(
        name="attention_scores",
        tensors="float32 q[8][512][64], float32 k[8][512][64] -> float32 a[8][512][512]",
        loops="(h, i, j, d) in (8, 512, 512, 64)",
        body="a[h][i][j] += q[h][i][d] * k[h][j][d]",
        place="(j//8) mod 16, (i//4) mod 16",
        steps="h, i//64, j//128, d//8",
    ),
    Counted(
        name="attention_values",
        tensors="float32 p[8][512][512], float32 v[8][512][64] -> float32 y[8][512][64]",
        loops="(h, i, d, j) in (8, 512, 64, 512)",
        body="y[h][i][d] += p[h][i][j] * v[h][j][d]",
        place="d//4, (i//4) mod 16",
        steps="h, i//64, j//8",
    ),
)
