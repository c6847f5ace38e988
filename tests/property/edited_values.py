"""Edits of the values in the YAML files of a folder, drawn at random: some change nothing that any
stage reads, some are wrong."""

import random
import re

import yaml

WAYS = ["hull", "exact", "loops", "scalar", "nested"]
FIGURES = {"hop": (1, 4), "ramp": (1, 9), "lanes": (1, 8), "dispatch": (0, 30), "loop": (0, 5),
           "vector_start_up": (0, 20), "threads": (2, 8)}


def edit(name, text, rng):
    """Return the text of a file with one to three edits."""
    data = yaml.safe_load(text) or {}
    for _ in range(rng.randint(1, 3)):
        rng.choice(OF_FILES[name])(data, rng)
    return spell(data, rng)


def spell(data, rng):
    """Return data as YAML: comments, the order of keys and quotes as it comes."""
    style = rng.choice([None, None, '"'])
    text = yaml.safe_dump(shuffle(data, rng), sort_keys=False, default_style=style,
                          width=rng.choice([40, 200]))
    if style:  # numbers have none
        text = re.sub(r'!!(int|float|bool|null) "([^"]*)"', r"\2", text)
    lines = [f"# {rng.random()}"] * rng.randint(0, 3)
    return "\n".join([*lines, text])


def shuffle(data, rng):
    """Return a mapping in another order, and those in it."""
    if not isinstance(data, dict):
        return data
    keys = list(data)
    if rng.random() < 0.5:
        rng.shuffle(keys)
    return {key: shuffle(data[key], rng) for key in keys}


def set_to(*path, values):
    """Return an edit that gives a key one of some values, or takes it away."""
    def act(data, rng):
        for key in path[:-1]:
            if not isinstance(data.get(key), dict):
                data[key] = {}
            data = data[key]
        value = rng.choice([*values, None])
        if value is None:
            data.pop(path[-1], None)
        else:
            data[path[-1]] = value
    return act


def figure(data, rng):
    name = rng.choice(list(FIGURES))
    data["machine"] = {"profile": rng.choice(["wse2", "wse3", "paper", "systolic"]),
                       name: rng.randint(*FIGURES[name])}


def nothing(data, rng):
    """Only the spelling changes."""


def tensor(data, rng):
    each = data.get("tensors", {}).get(rng.choice(list(data.get("tensors") or [""])))
    if isinstance(each, dict):
        key, values = rng.choice([("sparse", [True, False]), ("otherwise", [0, 1.5]),
                                  ("resident", [False, True])])
        each[key] = rng.choice(values)


def iterator(data, rng):
    """Call an iterator of the placement by another name."""
    text = data.get("placement")
    found = re.search(r"\w+\[(\w+)", text) if isinstance(text, str) else None
    if found:
        data["placement"] = re.sub(rf"\b{found[1]}\b", rng.choice("klmpq"), text)


def target(data, rng):
    sizes = re.findall(r"\d+", str(data.get("target")))
    if len(sizes) == 2:
        width, height = (int(size) + rng.choice([0, 0, 1, 2, -1]) for size in sizes)
        data["target"] = f"{{ PE[{width}, {height}] }}"


def turn(data, rng):
    """Let a tensor arrive in another order."""
    for each in (data.get("tensors") or {}).values():
        if isinstance(each, dict) and "index[i]" in str(each.get("arrives")):
            each["arrives"] = each["arrives"].replace("index[i]", "index[-i]")


def slip(data, rng):
    data[rng.choice(["dta", "probe", "Seed"])] = rng.choice([1, {"seed": 2}])


LAYER = [
    nothing, nothing, figure, tensor, iterator, target, turn, slip,
    set_to("data", "seed", values=range(5)), set_to("data", "kind", values=["integers", "reals"]),
    set_to("data", "density", values=[0.2, 0.9]),
    set_to("invocations", values=[1, 2, 3, True, "2"]),
    set_to("simd", "prefer", values=WAYS), set_to("report", values=[True, False]),
    set_to("skew", values=[True, False, "x"]), set_to("goal", values=["cycles", "memory"]),
    set_to("topology", values=["torus", "mesh", {"kind": "mesh"}]),
    set_to("probes", "x", values=["{ PE[0, 0] }", "{ PE[1, 1] }"]),
    set_to("analysis", "outputs", values=[["y"], []]),
    set_to("machine", values=["wse2", "ideal", "paper", {"profile": "wse2", "read_banks": 0}]),
]
NETWORK = [
    nothing, slip, set_to("run", values=["whole", "parts"]),
    set_to("floorplan", "first", values=["PE[0, 0]", "PE[0, 9]"]), set_to("report", values=[True]),
]
KERNEL = [
    nothing, slip, figure, set_to("data", "seed", values=range(4)),
    set_to("data", "kind", values=["integers", "reals"]),
    set_to("tiles", values=[{"c": [16, 10, 16]}, {"c": [16, 20]}, {"c": [8, 10, 16]}]),
    set_to("facts", values=[[]]),
    set_to("machine", values=["wse2", "ideal"]), set_to("sizes", values=[{}]),
]
PROGRAM = [
    nothing, slip, figure, set_to("limits", "seconds", values=[30, 90, 90.0]),
    set_to("parameters", "n", values=[1, 2]), set_to("control", "responses", values=[1, 2, 3]),
    set_to("machine", values=["wse2", "wse3"]), set_to("reductions", values=["drain"]),
]
OF_FILES = {
    "layer.yaml": LAYER, "network.yaml": NETWORK, "kernel.yaml": KERNEL, "program.yaml": PROGRAM,
}


def random_of(seed):
    return random.Random(f"values {seed}")
