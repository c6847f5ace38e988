func.func @matmul(%a: tensor<24x32xf32>, %b: tensor<32x20xf32>) -> tensor<24x20xf32> {
  %init = tensor.empty() : tensor<24x20xf32>
  %c = linalg.matmul ins(%a, %b : tensor<24x32xf32>, tensor<32x20xf32>)
    outs(%init : tensor<24x20xf32>) -> tensor<24x20xf32>
  return %c : tensor<24x20xf32>
}
