"""The ONNX graph of a saved policy acts as the policy does."""

import jax.numpy as jnp
import numpy as np
import onnx
import onnxruntime
import pytest

import macura
from macura import presets, sac
from macura.core import UserError
from macura.envs import EnvConfig, Piece, Spaces
from macura.nn import MLP
from macura.runs import policy_file
from macura.training import SavedPolicy

LOW, HIGH = np.array([-1.0, 0.0, -3.0], np.float32), np.array([2.0, 0.5, -2.0], np.float32)


@pytest.fixture(params=[None, "features", "critics", "all"])
def saved(request, tmp_path):
    """The file of a policy with small biases, so that the epsilon of a normalisation shows."""
    rng = np.random.default_rng(0)
    sizes = [(5, 16), (16, 12), (12, 6)]
    weights = tuple(jnp.float32(rng.normal(0, shape[0] ** -0.5, shape)) for shape in sizes)
    biases = tuple(jnp.float32(rng.normal(0, 1e-3, shape[1])) for shape in sizes)
    policy = sac.Policy(MLP(weights, biases), jnp.asarray(HIGH - LOW) / 2)
    config = presets.build("sac", EnvConfig("Pendulum-v1"), overrides={"sac.layer_norm": request.param})
    spaces = Spaces((Piece(("angle",), (2,)), Piece(("speed",), (3,))), (3, 1))
    SavedPolicy(policy, LOW, HIGH, config, spaces).save(tmp_path / "policy.safetensors")
    return tmp_path / "policy.safetensors"


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("count", [1, 64])
def test_the_graph_acts_as_predict(saved, scale, count):
    agent = macura.load(saved)
    agent.export(saved.with_suffix(".onnx"))
    obs = (scale * np.random.default_rng(1).normal(size=(count, 5))).astype(np.float32)
    (found,) = onnxruntime.InferenceSession(saved.with_suffix(".onnx")).run(["action"], {"observation": obs})
    expected, _ = agent.predict(obs, deterministic=True)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=1e-5)
    assert (found >= LOW).all() and (found <= HIGH).all()


def test_the_graph_is_valid_says_where_it_is_from_and_is_the_same_each_time(saved, tmp_path):
    SavedPolicy.load(saved).export(tmp_path / "one.onnx")
    SavedPolicy.load(saved).export(tmp_path / "two.onnx")
    assert (tmp_path / "one.onnx").read_bytes() == (tmp_path / "two.onnx").read_bytes()
    onnx.checker.check_model(tmp_path / "one.onnx", full_check=True)
    session = onnxruntime.InferenceSession(tmp_path / "one.onnx")
    (shown,), (taken,) = session.get_inputs(), session.get_outputs()
    assert (shown.name, shown.type, shown.shape) == ("observation", "tensor(float)", ["batch", 5])
    assert (taken.name, taken.type, taken.shape) == ("action", "tensor(float)", ["batch", 3])
    about = session.get_modelmeta().custom_metadata_map
    assert about == {"macura_version": macura.__version__, "env_id": "Pendulum-v1", "algorithm": "sac"}


def renamed(content):
    return content._replace(config=content.config | {"algorithm": "td3"})


def narrowed(content):
    return content._replace(arrays=content.arrays | {"bias0": content.arrays["bias0"][:-1]})


def without_bounds(content):
    return content._replace(arrays={name: a for name, a in content.arrays.items() if name != "low"})


def one_bound_longer(content):
    return content._replace(arrays=content.arrays | {"high": np.ones(4, np.float32)})


def with_a_flat_weight(content):
    return content._replace(arrays=content.arrays | {"weight1": np.ones(4, np.float32)})


def with_other_spaces(content):
    return content._replace(spaces={"observation": [[[], [7]]], "action": [3, 1]})


def with_spaces_of_another_form(content):
    return content._replace(spaces={"observation": [3], "action": [3, 1]})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (renamed, "policy of 'td3'"),
        (narrowed, "its layers do not fit each other"),
        (without_bounds, "it lacks 'low'"),
        (one_bound_longer, "its layers do not fit its spaces"),
        (with_a_flat_weight, "no macura policy"),
        (with_other_spaces, "its layers do not fit its spaces"),
        (with_spaces_of_another_form, "no macura policy"),
    ],
)
def test_a_policy_that_was_put_together_wrongly_is_one_line(saved, change, told):
    policy_file.save(saved, *change(policy_file.load(saved)))
    with pytest.raises(UserError, match=told) as failure:
        macura.load(saved)
    assert "\n" not in str(failure.value)
