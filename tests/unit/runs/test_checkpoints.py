import jax
import jax.numpy as jnp
import numpy as np
import pytest

from macura.core import RunError
from macura.runs import Checkpoints
from macura.runs import checkpoints as checkpoints_module


def tree(value):
    return {
        "weights": [np.full((3, 2), value, np.float32), np.arange(4, dtype=np.int32)],
        "half": jnp.full((2,), value, jnp.bfloat16),
        "empty": np.zeros((0, 7), np.float32),
        "count": np.int32(value),
    }


def same(one, other):
    return jax.tree.all(jax.tree.map(lambda a, b: a.dtype == b.dtype and np.array_equal(a, b), one, other))


@pytest.fixture
def checkpoints(tmp_path):
    warnings = []
    made = Checkpoints(tmp_path / "checkpoints", keep=2, warn=warnings.append)
    made.warnings = warnings
    return made


def files_of(checkpoints, step):
    return sorted(path for path in (checkpoints.folder / str(step)).rglob("*") if path.is_file())


def test_a_tree_comes_back_bit_by_bit(checkpoints):
    checkpoints.save(10, tree(1.5), {"best": 3.25})
    restored = checkpoints.restore(tree(0))
    assert restored.step == 10
    assert restored.meta == {"best": 3.25}
    assert same(restored.tree, tree(1.5))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, bool, jnp.bfloat16])
def test_large_arrays_come_back_too_and_the_file_is_checked(checkpoints, dtype):
    rows = (np.arange(checkpoints_module.LARGE) % 1000).reshape(-1, 4).astype(dtype)
    checkpoints.save(1, {"rows": (rows[3:], rows[:0]), "small": np.float32(2)}, {})
    restored = checkpoints.restore({"rows": (0, 0), "small": 0})
    assert same(restored.tree, {"rows": (rows[3:], rows[:0]), "small": np.float32(2)})
    largest = max(files_of(checkpoints, 1), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[-5] ^= 1
    largest.write_bytes(content)
    with pytest.raises(RunError, match="no checkpoint"):
        checkpoints.restore({"rows": (0, 0), "small": 0})


def test_without_a_structure_the_arrays_have_names(checkpoints):
    checkpoints.save(1, tree(2), {})
    assert sorted(checkpoints.restore().tree) == ["count", "empty", "half", "weights/0", "weights/1"]


def test_nothing_saved_is_nothing_restored(checkpoints):
    assert checkpoints.restore(tree(0)) is None


def test_the_newest_few_are_kept(checkpoints):
    for step in (1, 2, 3):
        checkpoints.save(step, tree(step), {})
    assert checkpoints.steps() == [2, 3]
    assert checkpoints.restore(tree(0)).step == 3


@pytest.mark.parametrize("harm", ["cut", "flip", "missing"])
def test_a_damaged_file_means_the_checkpoint_before_and_a_warning(checkpoints, harm):
    checkpoints.save(1, tree(1), {})
    checkpoints.save(2, tree(2), {})
    whole = {path: path.read_bytes() for path in files_of(checkpoints, 2)}
    for path, content in whole.items():
        if harm == "missing":
            path.unlink()
        elif harm == "cut":
            path.write_bytes(content[: len(content) // 2])
        else:
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if content else b"x")
        checkpoints.warnings.clear()
        restored = checkpoints.restore(tree(0))
        if harm != "cut" or content:
            assert restored.step == 1, path
            assert "step 2 is damaged and skipped" in checkpoints.warnings[0]
        assert same(restored.tree, tree(restored.step))
        path.write_bytes(content)
    assert checkpoints.restore(tree(0)).step == 2


def test_all_damaged_is_a_failure_that_says_what_to_do(checkpoints):
    checkpoints.save(1, tree(1), {})
    (checkpoints.folder / "1" / "manifest.json").write_text("{}")
    with pytest.raises(RunError, match=r"no checkpoint .* is intact; start the run again with another --out"):
        checkpoints.restore(tree(0))


def test_going_back_behind_a_damaged_step_and_reaching_it_again(checkpoints):
    for step in (1, 2):
        checkpoints.save(step, tree(step), {})
    (checkpoints.folder / "2" / "state.json").write_text("")
    assert checkpoints.restore(tree(0)).step == 1
    checkpoints.save(2, tree(20), {})
    assert same(checkpoints.restore(tree(0)).tree, tree(20))
    assert checkpoints.steps() == [1, 2]


def test_what_a_killed_save_left_is_not_a_checkpoint_and_is_swept(checkpoints):
    checkpoints.save(1, tree(1), {})
    leftover = checkpoints.folder / "2.draft"
    leftover.mkdir()
    assert checkpoints.steps() == [1]
    checkpoints.save(3, tree(3), {})
    assert not leftover.exists()


def test_a_save_that_fails_leaves_the_earlier_one(checkpoints, monkeypatch):
    checkpoints.save(1, tree(1), {})

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("macura.runs.checkpoints._write", full)
    with pytest.raises(RunError, match="step 2: No space left on device; the checkpoint of step 1 is intact"):
        checkpoints.save(2, tree(2), {})
    assert [path.name for path in checkpoints.folder.iterdir()] == ["1"]
    assert checkpoints.restore(tree(0)).step == 1


def test_another_structure_is_refused_by_name(checkpoints):
    checkpoints.save(1, tree(1), {})
    with pytest.raises(RunError, match=r"another version of this program \(extra is in only one of both\)"):
        checkpoints.restore(tree(0) | {"extra": np.zeros(1)})
