import numpy as np
import pytest
import safetensors.numpy

from macura.core import RunError, UserError
from macura.runs import policy_file

ARRAYS = {"weight0": np.arange(6, dtype=np.float32).reshape(2, 3), "bias0": np.zeros(3, np.float32)}
CONFIG = {"algorithm": "sac", "env": {"id": "Pendulum-v1"}}
SPACES = {"observation": [[["position"], [1]]], "action": [1]}


@pytest.fixture
def saved(tmp_path):
    policy_file.save(tmp_path / "policy.safetensors", ARRAYS, CONFIG, SPACES)
    return tmp_path / "policy.safetensors"


def test_arrays_and_configuration_come_back(saved):
    arrays, config, spaces = policy_file.load(saved)
    assert spaces == SPACES
    assert config == CONFIG
    assert arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)


def test_the_same_content_gives_the_same_bytes(saved, tmp_path):
    policy_file.save(tmp_path / "again.safetensors", dict(reversed(ARRAYS.items())), CONFIG, SPACES)
    assert (tmp_path / "again.safetensors").read_bytes() == saved.read_bytes()


def test_no_flipped_bit_and_no_cut_is_loaded(saved):
    whole = saved.read_bytes()
    for place in range(0, len(whole), 5):
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(UserError):
            policy_file.load(saved)
        saved.write_bytes(whole[:place])
        with pytest.raises(UserError):
            policy_file.load(saved)


def test_what_is_no_policy_is_named(tmp_path):
    with pytest.raises(UserError, match="there is no policy file"):
        policy_file.load(tmp_path / "absent.safetensors")
    foreign = tmp_path / "foreign.safetensors"
    safetensors.numpy.save_file(ARRAYS, foreign)
    with pytest.raises(UserError, match="no policy saved by macura"):
        policy_file.load(foreign)
    foreign.write_text("hello")
    with pytest.raises(UserError, match="is not a policy file, cut short, or damaged"):
        policy_file.load(foreign)


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        policy_file.save(tmp_path / "file" / "policy.safetensors", ARRAYS, CONFIG, SPACES)
