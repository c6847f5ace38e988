#parallel = affine_map<(n, f, y, x) -> (n, f, y, x)>
func.func @krnl0(%ifm: tensor<1x3x16x16xf32>, %wgt0: tensor<8x3x5x5xf32>) -> tensor<1x8x8x8xf32> {
  %cst0 = arith.constant 0.0 : f32
  %cst0_01 = arith.constant 0.01 : f32
  %pad0 = tensor.pad %ifm low[0, 0, 1, 1] high[0, 0, 2, 2] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %cst0 : f32
  } : tensor<1x3x16x16xf32> to tensor<1x3x19x19xf32>
  %conv0.init = tensor.empty() : tensor<1x8x8x8xf32>
  %conv0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%pad0, %wgt0 : tensor<1x3x19x19xf32>, tensor<8x3x5x5xf32>)
    outs(%conv0.init : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %act0.init = tensor.empty() : tensor<1x8x8x8xf32>
  %act0 = linalg.generic {indexing_maps = [#parallel, #parallel], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%conv0 : tensor<1x8x8x8xf32>)
    outs(%act0.init : tensor<1x8x8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.maximumf %a, %cst0 : f32
    %1 = arith.mulf %0, %cst0_01 : f32
    %2 = arith.addf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x8x8x8xf32>
  return %act0 : tensor<1x8x8x8xf32>
}
