"""Make a layer that fails small: other random numbers for its generator, as Hypothesis does it."""

import shutil
import traceback
from collections.abc import Callable

from tests.property.layers import RandomLayer, examine, layer_of_numbers

GREATEST = 1 - 2**-53


def shrunk(layer: RandomLayer, fails: Callable[[RandomLayer], bool], attempts: int):
    """Return the smallest layer that was found to fail, with at most so many calls of `fails`."""
    seen, before = [(layer.texts, layer.zeros)], None
    while layer is not before:
        before = layer
        for edit, span, start in _edits(len(layer.numbers)):
            smaller = layer_of_numbers(edit(layer.numbers, start, start + span))
            if smaller.size >= layer.size or (smaller.texts, smaller.zeros) in seen:
                continue
            if len(seen) > attempts:
                return layer
            seen.append((smaller.texts, smaller.zeros))
            if fails(smaller):
                layer = smaller
    return layer


def _edits(count):
    """Yield what to do with which random numbers: long spans of them first."""
    span = count
    while span:
        for start in range(0, count, span):
            for edit in (_without, _lowered, _raised, _halved):
                yield edit, span, start
        span //= 2


def _without(numbers, start, end):
    return numbers[:start] + numbers[end:]


def _lowered(numbers, start, end):
    return numbers[:start] + (0.0,) * len(numbers[start:end]) + numbers[end:]


def _raised(numbers, start, end):
    return numbers[:start] + (GREATEST,) * len(numbers[start:end]) + numbers[end:]


def _halved(numbers, start, end):
    return numbers[:start] + tuple(n / 2 for n in numbers[start:end]) + numbers[end:]


class Shrinker:
    """Makes layers that fail small, and gives up after so many builds together."""

    def __init__(self, builds: int):
        self.left = builds

    def report(self, layer: RandomLayer, error: Exception, folder):
        """Write a small layer that fails like a given one to a folder, and return what to say."""
        wanted = kind_of(error)
        small = shrunk(layer, lambda other: self._kind(other, folder) == wanted, self.left)
        shutil.rmtree(folder, ignore_errors=True)
        small.write(folder)
        texts = [f"--- {name}\n{text}" for name, text in small.texts.items()]
        texts += [f"--- inputs/{name}.npy: zeros of both signs" for name, _, _ in small.zeros]
        return "\n".join([f"{wanted}: {error}", f"a small layer with this fault: {folder}", *texts])

    def _kind(self, layer, folder):
        """Build a layer; return the kind of its fault, '' if there is none."""
        self.left -= 1
        shutil.rmtree(folder, ignore_errors=True)
        layer.write(folder)
        try:
            examine(folder)
        except Exception as error:
            return kind_of(error)
        return ""


def kind_of(error: Exception):
    """Return what faults of one kind have in common: the exception, and where it comes from."""
    return f"{type(error).__name__} in {traceback.extract_tb(error.__traceback__)[-1].name}"
