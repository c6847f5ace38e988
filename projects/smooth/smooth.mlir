// The sum of weighted neighbours on a ring of rows and columns: what lies beyond an edge is what lies
// at the opposite one.
func.func @smooth(%u: tensor<18x18xf32>, %w: tensor<3x3xf32>) -> tensor<18x18xf32> {
  %zero = arith.constant 0.0 : f32
  %ring = tensor.pad %u low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } {boundary = "periodic"} : tensor<18x18xf32> to tensor<20x20xf32>
  %init = tensor.empty() : tensor<18x18xf32>
  %v = linalg.generic {
    indexing_maps = [affine_map<(y, x, a, b) -> (y + a, x + b)>, affine_map<(y, x, a, b) -> (a, b)>,
                     affine_map<(y, x, a, b) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%ring, %w : tensor<20x20xf32>, tensor<3x3xf32>) outs(%init : tensor<18x18xf32>) {
  ^bb0(%r: f32, %f: f32, %s: f32):
    %1 = arith.mulf %r, %f : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<18x18xf32>
  return %v : tensor<18x18xf32>
}
