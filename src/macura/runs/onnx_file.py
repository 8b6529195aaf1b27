"""The policy as an ONNX graph, for programs without this library. The only file that imports onnx, when it is used."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macura.core import RunError, UserError
from macura.runs.files import reason, write_atomically

OPSET, IR_VERSION = 17, 8
"""The first set of operators with `LayerNormalization`, and its file format: old runtimes read them too."""

Array = NDArray[Any]


class Controller(NamedTuple):
    """A multilayer perceptron, squashed, in the environment's units."""

    layers: Sequence[tuple[Array, Array]]
    """Weight (inputs, outputs) and bias of each layer."""
    epsilon: float | None
    """Of the normalisation of hidden layers; `None` if there is none."""
    low: Array
    high: Array
    """Bounds of the actions."""


class Step(NamedTuple):
    """One operator, applied to what came before it and to constants."""

    operator: str
    constants: tuple[Array, ...] = ()
    attributes: Mapping[str, Any] = {}


def save(path: str | Path, controller: Controller, about: Mapping[str, str]) -> None:
    """Write the graph from `observation` (batch, obs) to `action` (batch, act), with metadata, atomically."""
    path = Path(path)
    if path.suffix != ".onnx":
        raise UserError(f"{path} is no name for an ONNX graph; give a file such as policy.onnx.")
    content = _model(controller, about)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as error:
        raise RunError(f"cannot write {path}: {reason(error)}.") from error


def _steps(controller: Controller) -> Iterator[Step]:
    """h <- relu(norm(h W + b)) layer by layer; then clip(middle + half_range tanh(h W + b), low, high)."""
    *hidden, (weight, bias) = controller.layers
    low, high = controller.low, controller.high
    for hidden_weight, hidden_bias in hidden:
        yield Step("MatMul", (hidden_weight,))
        yield Step("Add", (hidden_bias,))
        if controller.epsilon is not None:
            yield Step("LayerNormalization", (np.ones_like(hidden_bias),), {"epsilon": controller.epsilon})
        yield Step("Relu")
    yield Step("MatMul", (weight,))
    yield Step("Add", (bias,))
    yield Step("Tanh")
    yield Step("Mul", ((high - low) / 2,))
    yield Step("Add", ((low + high) / 2,))
    yield Step("Max", (low,))
    yield Step("Min", (high,))


def _model(controller: Controller, about: Mapping[str, str]) -> bytes:
    """The steps as a chain of ONNX nodes; the same controller gives the same bytes."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        raise UserError(
            f'ONNX cannot be imported ({error}); install it with pip install "macura[export]".'
        ) from error
    shown = helper.make_tensor_value_info(
        "observation", TensorProto.FLOAT, ["batch", controller.layers[0][0].shape[0]]
    )
    taken = helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", controller.low.shape[0]])
    nodes: list[Any] = []
    constants: list[Any] = []
    steps = list(_steps(controller))
    values = ["observation", *(f"value{number}" for number in range(1, len(steps))), "action"]
    for step, before, after in zip(steps, values[:-1], values[1:], strict=True):
        names = [f"{after}_{step.operator}{place}" for place in range(len(step.constants))]
        constants += map(numpy_helper.from_array, step.constants, names)
        nodes.append(helper.make_node(step.operator, [before, *names], [after], **step.attributes))
    graph = helper.make_graph(nodes, "policy", [shown], [taken], constants)
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="macura")
    helper.set_model_props(model, dict(about))
    return model.SerializeToString(deterministic=True)
