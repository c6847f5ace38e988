"""One graph for each operator of TensorFlow, and each attribute: nodes, inputs, constants.

Constants have values, or a shape for drawn ones. `record.py` has TensorFlow compute the results.
"""

import numpy as np

UNARY = [
    "Abs", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "Identity", "Inv", "LeakyRelu",
    "LeakyRelu<alpha=0.5>", "Log", "Neg", "PreventGradient", "Reciprocal", "Relu", "Relu6", "Rint",
    "Round", "Rsqrt", "Selu", "Sigmoid", "Sign", "Sin", "Snapshot", "Softplus", "Softsign", "Sqrt",
    "Square", "StopGradient", "Tanh", "Squeeze",
]
BINARY = [
    "Add", "AddV2", "Div", "DivNoNan", "Maximum", "Minimum", "Mul", "Pow", "RealDiv",
    "SquaredDifference", "Sub",
]
TRUTHS = ["Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"]
REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod"]


def ints(*values):
    return np.array(values[0] if len(values) == 1 else values, "i4")


IMAGE = {"x": (2, 7, 6, 4)}
ONE = "strides=[1, 1, 1, 1]"
KERNEL = {"w": (3, 2, 4, 3)}
OWN = {"w": (3, 2, 4, 2)}
STATISTICS = {"s": (4,), "b": (4,), "m": (4,), "v": (4,)}
PLACES = [
    (f'y = Conv2D<{ONE}, padding="VALID">(x, w)', IMAGE, KERNEL),
    ('y = Conv2D<strides=[1, 2, 3, 1], padding="SAME">(x, w)', IMAGE, KERNEL),
    (f'y = Conv2D<{ONE}, padding="SAME", dilations=[1, 2, 1, 1], use_cudnn_on_gpu=True>(x, w)',
     IMAGE, KERNEL),
    (f'y = Conv2D<{ONE}, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]>(x, w)',
     IMAGE, KERNEL),
    (f'y = Conv2D<{ONE}, padding="VALID">(x, w)', IMAGE, {"w": (1, 1, 4, 5)}),
    (f'y = Conv2D<{ONE}, padding="SAME">(x, w)', IMAGE, {"w": (2, 2, 2, 6)}),
    (f'y = Conv2D<{ONE}, padding="SAME">(x, w)', {**IMAGE, "w": (2, 3, 4, 2)}, {}),
    (f'y = DepthwiseConv2dNative<{ONE}, padding="SAME">(x, w)', IMAGE, OWN),
    ('y = DepthwiseConv2dNative<strides=[1, 2, 2, 1], padding="VALID">(x, w)', IMAGE, OWN),
    ('y = MaxPool<ksize=[1, 2, 3, 1], strides=[1, 2, 2, 1], padding="SAME">(x)', IMAGE, {}),
    ('y = MaxPool<ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID">(x)', IMAGE, {}),
    (f'y = MaxPool<ksize=[1, 3, 2, 1], {ONE}, padding="EXPLICIT", '
     "explicit_paddings=[0, 0, 1, 1, 0, 1, 0, 0]>(x)", IMAGE, {}),
    ('y = AvgPool<ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding="SAME">(x)', IMAGE, {}),
    ('y = AvgPool<ksize=[1, 2, 2, 1], strides=[1, 1, 2, 1], padding="VALID">(x)', IMAGE, {}),
    ("y = BiasAdd(x, b)", IMAGE, {"b": (4,)}),
    ("y = FusedBatchNorm<is_training=False>(x, s, b, m, v)", IMAGE, STATISTICS),
    ("y = FusedBatchNormV2<is_training=False, epsilon=0.125>(x, s, b, m, v)", IMAGE, STATISTICS),
    ("y = FusedBatchNormV3<is_training=False, epsilon=0.5, exponential_avg_factor=1.0>"
     "(x, s, b, m, v)", {**IMAGE, "m": (4,)}, {"s": (4,), "b": (4,), "v": (4,)}),
    ("y = DepthToSpace<block_size=2>(x)", {"x": (2, 3, 2, 8)}, {}),
    ("y = SpaceToDepth<block_size=2>(x)", {"x": (2, 4, 6, 3)}, {}),
]
"""Those with a layout: TensorFlow runs NHWC; the tests turn them into NCHW as well."""

OTHERS = [
    ("y = BiasAdd(x, b)", {"x": (3, 5)}, {"b": (5,)}),
    ("y = MatMul(a, b)", {"a": (3, 4), "b": (4, 5)}, {}),
    ("y = MatMul<transpose_a=True, transpose_b=True>(a, b)", {"a": (4, 3)}, {"b": (5, 4)}),
    ("y = BatchMatMul<adj_x=True>(a, b)", {"a": (2, 4, 3), "b": (2, 4, 5)}, {}),
    ("y = BatchMatMulV2<adj_y=True>(a, b)", {"a": (2, 1, 3, 4), "b": (5, 2, 4)}, {}),
    ("y = BatchMatMulV3(a, b)", {"a": (2, 3, 4), "b": (4, 5)}, {}),
    ("y = Softmax(x)", {"x": (3, 5)}, {}),
    ("y = LogSoftmax(x)", {"x": (2, 3, 5)}, {}),
    ("y = AddN<N=3>(x, z, x)", {"x": (2, 3), "z": (2, 3)}, {}),
    ("y = ClipByValue(x, low, high)", {"x": (3, 5)},
     {"low": np.float32(-0.5), "high": np.float32(0.25)}),
    ("y = Pow(x, n)", {"x": (3, 5)}, {"n": np.float32(3)}),
    ("y = AddV2(x, n)", {"x": (3,)}, {"n": np.float32([[1]])}),
    ("y = Reshape(x, s)", {"x": (4, 6)}, {"s": ints(3, 8)}),
    ("y = Reshape(x, s)", {"x": (2, 3, 4)}, {"s": ints(2, -1, 2, 1)}),
    ("y = Squeeze<squeeze_dims=[0, -1]>(x)", {"x": (1, 3, 1, 1)}, {}),
    ("y = ExpandDims(x, a)", {"x": (2, 3)}, {"a": ints(-2)}),
    ("y = Transpose(x, p)", {"x": (2, 3, 4)}, {"p": ints(1, 2, 0)}),
    ("y = ConcatV2<N=3>(a, b, a, n)", {"a": (2, 3, 2), "b": (2, 1, 2)}, {"n": ints(-2)}),
    ("y = Concat<N=2>(n, a, b)", {"a": (2, 3), "b": (1, 3)}, {"n": ints(0)}),
    ("y = Pack<N=2, axis=1>(a, b)", {"a": (2, 3), "b": (2, 3)}, {}),
    ("u = Unpack<num=3, axis=1>(x)\ny = Sub(u:2, u:0)", {"x": (2, 3)}, {}),
    ("u = Split<num_split=2>(n, x)\ny = Sub(u, u:1)", {"x": (2, 4)}, {"n": ints(1)}),
    ("u = SplitV<num_split=2>(x, s, n)\ny = ConcatV2<N=2>(u:1, u, n)", {"x": (2, 5)},
     {"s": ints(2, -1), "n": ints(-1)}),
    ("y = Slice(x, b, s)", {"x": (5, 7)}, {"b": ints(1, 2), "s": ints(-1, 3)}),
    ("y = StridedSlice<begin_mask=1, end_mask=2>(x, b, e, s)", {"x": (5, 7)},
     {"b": ints(2, -5), "e": ints(-1, 0), "s": ints(2, 2)}),
    ("y = StridedSlice<shrink_axis_mask=1>(x, b, e, s)", {"x": (5, 7)},
     {"b": ints(-2, -1), "e": ints(-1, -9), "s": ints(1, -2)}),
    ("y = StridedSlice<ellipsis_mask=2, new_axis_mask=5>(x, b, e, s)", {"x": (3, 4, 5)},
     {"b": ints(0, 0, 0, 1), "e": ints(0, 0, 0, 3), "s": ints(1, 1, 1, 1)}),
    ("y = Pad(x, p)", {"x": (2, 3)}, {"p": ints([[1, 2], [0, 3]])}),
    ("y = PadV2(x, p, v)", {"x": (2, 3)}, {"p": ints([[1, 2], [0, 3]]), "v": np.float32(1.5)}),
    ('y = MirrorPad<mode="REFLECT">(x, p)', {"x": (4, 5)}, {"p": ints([[2, 3], [1, 4]])}),
    ("y = Tile(x, t)", {"x": (2, 3)}, {"t": ints(2, 3)}),
    ("y = BroadcastTo(x, s)", {"x": (3, 1)}, {"s": ints(2, 3, 4)}),
    ("y = Gather<validate_indices=True>(x, i)", {"x": (5, 3)}, {"i": ints(4, 0, 2)}),
    ("y = GatherV2<batch_dims=0>(x, i, n)", {"x": (2, 5)},
     {"i": ints([[0, 2], [1, 4]]), "n": ints(1)}),
    ("y = SpaceToBatchND(x, b, p)", {"x": (2, 5, 4, 3)},
     {"b": ints(2, 3), "p": ints([[1, 0], [2, 3]])}),
    ("y = BatchToSpaceND(x, b, p)", {"x": (12, 3, 4, 3)},
     {"b": ints(2, 3), "p": ints([[1, 0], [2, 3]])}),
    ("t = Less(x, z)\ny = SelectV2(t, x, z)", {"x": (3, 1), "z": (1, 4)}, {}),
    ("t = Less(x, z)\ny = Select(t, x, z)", {"x": (3, 4), "z": (3, 4)}, {}),
    ('t = Cast<DstT="DT_BOOL">(x)\nn = LogicalNot(t)\n'
     'y = Cast<SrcT="DT_BOOL", DstT="DT_FLOAT">(n)', {"x": (3, 4)}, {}),
    ('y = Cast<DstT="DT_FLOAT">(x)', {"x": (3, 4)}, {}),
    ('y = PlaceholderWithDefault<dtype="DT_FLOAT", shape=(3,)>(w)\nz = Mul(x, y)', {"x": (3,)},
     {"w": (3,)}),
    # What depends on sizes and constants alone is computed.
    ('s = Shape(x)\nn = StridedSlice<T="DT_INT32", shrink_axis_mask=1>(s, b, e, t)\n'
     'p = Pack<T="DT_INT32", N=2>(n, r)\ny = Reshape(x, p)', {"x": (2, 3, 4)},
     {"b": ints([0]), "e": ints([1]), "t": ints([1]), "r": ints(-1)}),
    ('s = Size<out_type="DT_INT32">(x)\nk = Rank(x)\nd = FloorDiv<T="DT_INT32">(s, k)\n'
     'm = FloorMod<T="DT_INT32">(s, q)\np = Pack<T="DT_INT32", N=2>(d, m)\ny = Reshape(x, p)',
     {"x": (4, 2)}, {"q": ints(6)}),
    ('r = Range(a, n, d)\nc = Cast<SrcT="DT_INT32", DstT="DT_FLOAT">(r)\ny = Mul(x, c)',
     {"x": (2, 3)}, {"a": ints(5), "n": ints(-1), "d": ints(-2)}),
    ('f = Fill(s, w)\ng = Tile(f, t)\nh = Pad(g, p)\ny = AddV2(x, h)', {"x": (3, 5)},
     {"s": ints(1, 2), "w": np.float32(2), "t": ints(2, 2), "p": ints([[1, 0], [0, 1]])}),
    ("a = AddV2(v, e)\nr = Rsqrt(a)\nf = Mul(r, s)\ny = Mul(x, f)", {"x": (3, 4)},
     {"v": (4,), "e": np.float32(0.001), "s": (4,)}),
    ("t = Transpose(w, p)\ne = ExpandDims(t, n)\nq = Squeeze(e)\nm = Mean<keep_dims=True>(q, k)\n"
     "y = Mul(x, m)", {"x": (3, 4)}, {"w": (4, 3), "p": ints(1, 0), "n": ints(0), "k": ints([1])}),
    ("c = ConcatV2<N=2>(w, w, n)\ni = GatherV2(c, k, n)\nb = BroadcastTo(i, s)\n"
     "l = Slice(b, o, u)\nd = Concat<N=2>(n, l, l)\ny = Mul(x, d)", {"x": (4, 3)},
     {"w": (3,), "n": ints(0), "k": ints(5, 0, 4), "s": ints(4, 3), "o": ints(1, 0),
      "u": ints(2, -1)}),
    ("u = Unpack<num=2>(w)\nh = PadV2(u:1, p, z)\nt = Less(h, z)\ny = SelectV2(t, x, h)",
     {"x": (4,)}, {"w": (2, 3), "p": ints([[1, 0]]), "z": np.float32(0.25)}),
    ('k = Less<T="DT_INT32">(a, b)\nc = SelectV2<T="DT_INT32">(k, a, b)\ny = ExpandDims(x, c)',
     {"x": (3,)}, {"a": ints(1), "b": ints(7)}),
]
ROWS = [
    *((f"y = {each}(x)", {"x": (2, 1, 4)}, {}) for each in UNARY),
    *((f"y = {each}(x, z)", {"x": (2, 3, 4), "z": (3, 1)}, {}) for each in BINARY),
    *((f't = {each}(x, z)\ny = Cast<SrcT="DT_BOOL", DstT="DT_FLOAT">(t)',
       {"x": (3, 4), "z": (3, 1)}, {}) for each in TRUTHS),
    *((f"p = Less(x, z)\nq = Less(z, w)\nt = {each}(p, q)\n"
       'y = Cast<SrcT="DT_BOOL", DstT="DT_FLOAT">(t)', {"x": (3, 4), "z": (3, 1), "w": (4,)}, {})
      for each in ("LogicalAnd", "LogicalOr")),
    *((f"y = {each}(x, n)", {"x": (2, 3, 4)}, {"n": ints(-1, 0)}) for each in REDUCTIONS),
    ("y = Mean<keep_dims=True>(x, n)", {"x": (2, 3, 4)}, {"n": ints(1)}),
    ("y = Max<keep_dims=True>(x, n)", {"x": (2, 3, 4)}, {"n": ints([0])}),
    *OTHERS,
    *PLACES,
]
