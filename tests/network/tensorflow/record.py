"""Have TensorFlow compute what the tests compare with: no part of the tests themselves.

    python -m venv /tmp/tensorflow && /tmp/tensorflow/bin/pip install tensorflow-cpu==2.21.0 islpy \
        lark pyyaml pydantic
    PYTHONPATH=. /tmp/tensorflow/bin/python tests/network/tensorflow/record.py

It writes results.npz: for each graph of cases.py, by its digest, the value of what no node reads.
Networks are trained by nobody: their weights are drawn. They are frozen as users would do it, into
`networks/` and `projects/lenet_tensorflow`, each with an input and the result.
"""

import os
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tests.network.tensorflow.cases import ROWS
from tests.network.tensorflow.graphs import digest, draw, make_graph, written

HERE = Path(__file__).parent
RNG = np.random.default_rng(7)


def run(content, given, name="y"):
    """Return a value of a graph."""
    graph_def = tf.compat.v1.GraphDef.FromString(content)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.compat.v1.Session(graph=graph) as session:
            feeds = {f"{key}:0": value for key, value in given.items()}
            return session.run(f"{name}:0", feeds)


def record_operators():
    found = {}
    for text, inputs, known in ROWS:
        given, fixed = draw(inputs, known)
        content = written(make_graph(text, inputs, fixed))
        last = text.splitlines()[-1].partition(" ")[0]
        try:
            found[digest(content, given)] = run(content, given, last)
        except Exception as error:
            print(text, "\n   ", " ".join(str(error).split())[:300])
    np.savez_compressed(HERE / "results.npz", **found)


def drawn(shape, scale=1.0, above=0.0):
    values = RNG.normal(size=shape)
    return np.abs(values) + above if above else values * scale


def make_lenet():
    """Return LeNet, as Keras makes it."""
    layers = keras.layers
    return keras.Sequential([
        layers.Input((28, 28, 1)),
        layers.Conv2D(8, 5, padding="same", activation="relu", name="conv1"),
        layers.MaxPooling2D(2, name="pool1"),
        layers.Conv2D(16, 5, padding="same", activation="relu", name="conv2"),
        layers.MaxPooling2D(3, name="pool2"), layers.Flatten(), layers.Dropout(0.5),
        layers.Dense(10, activation="softmax", name="product"),
    ], name="lenet")


def make_mobile():
    """Return the first blocks of MobileNet V2, small."""
    layers = keras.layers
    image = x = layers.Input((9, 9, 3))
    x = layers.ZeroPadding2D(((0, 1), (0, 1)))(x)
    x = layers.Conv2D(4, 3, strides=2, use_bias=False)(x)
    x = layers.ReLU(6.0)(layers.BatchNormalization()(x))
    block = layers.Conv2D(8, 1, padding="same", use_bias=False)(x)
    block = layers.ReLU(6.0)(layers.BatchNormalization(epsilon=0.001)(block))
    block = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(block)
    block = layers.ReLU(6.0)(layers.BatchNormalization()(block))
    block = layers.BatchNormalization()(layers.Conv2D(4, 1, use_bias=False)(block))
    x = layers.GlobalAveragePooling2D()(layers.Add()([x, block]))
    return keras.Model(image, layers.Dense(5, activation="softmax")(x), name="mobile")


def freeze(model, batch):
    """Return a frozen GraphDef of a model of Keras, whose weights are drawn."""
    for weight in model.weights:
        fan = np.prod(weight.shape[:-1]) if len(weight.shape) > 1 else 4
        is_variance = "variance" in weight.name
        weight.assign(drawn(weight.shape, 1.5 / np.sqrt(fan), 0.5 if is_variance else 0.0))
    spec = tf.TensorSpec((batch, *model.input_shape[1:]), tf.float32, name="image")
    function = tf.function(lambda image: model(image, training=False))
    frozen = convert_variables_to_constants_v2(function.get_concrete_function(spec))
    return frozen.graph.as_graph_def()


def make_residual():
    """Return a block of ResNet as scripts for TensorFlow 1 have it, frozen: a GraphDef."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        image = v1.placeholder(tf.float32, (2, 8, 8, 3), name="image")
        x = tf.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]])
        x = normal(conv(x, 4, 3, 2, "VALID", "first"), "first")
        block = normal(conv(tf.nn.relu(x), 4, 3, 1, "SAME", "second"), "second")
        x = tf.nn.relu(x + block)
        x = tf.nn.max_pool2d(x, 3, 2, "SAME")
        with tf.control_dependencies([tf.no_op(name="nothing")]):
            x = tf.reshape(x, [tf.shape(x)[0], -1])
        keep = v1.placeholder_with_default(1.0, (), name="keep")
        x = tf.matmul(x / keep, weight((16, 6), "product"))
        tf.nn.softmax(tf.nn.bias_add(x, weight((6,), "bias")), name="probabilities")
        return v1.get_default_graph().as_graph_def()


def weight(shape, name):
    return tf.constant(drawn(shape, 0.5).astype("f4"), name=name)


def conv(x, channels, size, stride, padding, name):
    kernel = weight((size, size, x.shape[-1], channels), f"{name}/kernel")
    return tf.nn.conv2d(x, kernel, [1, stride, stride, 1], padding, name=f"{name}/conv")


def normal(x, name):
    channels = x.shape[-1]
    variance = tf.constant(drawn((channels,), above=0.5).astype("f4"))
    found = tf.compat.v1.nn.fused_batch_norm(
        x, weight((channels,), f"{name}/gamma"), weight((channels,), f"{name}/beta"),
        weight((channels,), f"{name}/mean"), variance, 0.002, is_training=False, name=name,
    )
    return found[0]


def record_network(path, graph_def, shape, output):
    """Write a graph, an input, and what TensorFlow computes of it."""
    path.parent.mkdir(exist_ok=True)
    is_text = path.suffix == ".pbtxt"
    tf.io.write_graph(graph_def, str(path.parent), path.name, as_text=is_text)
    image = RNG.normal(size=shape).astype("f4")
    place = HERE / "networks" / path.stem
    np.save(f"{place}_image.npy", image)
    result = run(graph_def.SerializeToString(), {"image": image}, output)
    np.save(f"{place}_result.npy", result)


def record_networks():
    networks = HERE / "networks"
    networks.mkdir(exist_ok=True)
    lenet = HERE.parents[2] / "projects" / "lenet_tensorflow" / "lenet.pb"
    record_network(lenet, freeze(make_lenet(), 1), (1, 28, 28, 1), "Identity")
    # As a folder has them, by our names.
    (networks / "lenet_image.npy").rename(lenet.parent / "inputs" / "image.npy")
    result = lenet.parent / "outputs" / "lenet_1_product_1_Softmax.npy"
    (networks / "lenet_result.npy").rename(result)
    mobile = freeze(make_mobile(), None)
    record_network(networks / "mobile.pb", mobile, (2, 9, 9, 3), "Identity")
    residual = make_residual()
    record_network(networks / "residual.pbtxt", residual, (2, 8, 8, 3), "probabilities")


if __name__ == "__main__":
    record_operators()
    record_networks()
