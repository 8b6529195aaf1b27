"""Wrong calls: one line that says what, why and what to type instead; exit code 2; nothing written."""

import json

import pytest

from macura.cli.main import main

from .conftest import snapshot

SMALL = "--algorithm sac --env Pendulum-v1 --preset quick"

WRONG = {
    # the command itself
    "unknown command": ("tarin", "no command 'tarin'. Did you mean 'train'?"),
    "unknown flag": ("train --sac.wdth 64", "no flag --sac.wdth. Did you mean --sac.width?"),
    "flag of nothing": (
        "plot done_run --colour red",
        "no flag --colour. `macura plot --help` lists all flags.",
    ),
    "word without flag": ("train Hopper-v5", "'Hopper-v5' belongs to no flag"),
    "flag given twice": ("train --seed 1 --seed 2", "--seed is given twice"),
    "short and long name": ("train --env Pendulum-v1 --env.id Hopper-v5", "--env.id is given twice"),
    "group without setting": ("train --sac 512", "--sac is a group of settings; set one of them"),
    # names
    "unknown algorithm": ("train --algorithm mbop", "no algorithm 'mbop'. Did you mean 'mbpo'?"),
    "unknown preset": ("train --preset pape", "no preset 'pape'. Did you mean 'paper'?"),
    "preset without this task": (
        f"train {SMALL} --preset=paper".replace("--preset quick ", ""),
        "has no numbers",
    ),
    "unknown gate": ("train --imagination.rollout.gate rankd", "Did you mean 'ranked'?"),
    "setting of another gate": (
        "train --imagination.rollout.gate ranked --imagination.rollout.gate.quantile 0.9",
        "no flag --imagination.rollout.gate.quantile (--imagination.rollout.gate is ranked)",
    ),
    "model setting for SAC": (
        f"train {SMALL} --imagination.every 100",
        "belongs to the model, and SAC has none",
    ),
    # numbers
    "negative steps": ("train --steps -5", "steps is -5, but must be at least 1"),
    "no epoch": ("train --epoch-steps 0", "epoch_steps is 0, but must be at least 1"),
    "seed that is text": ("train --seed first", "seed is 'first', but must be a whole number"),
    "negative seed": ("train --seed -1", "seed is -1, but must lie in [0, 2**32)"),
    "fraction of a unit": ("train --sac.width 64.5", "sac.width is 64.5, but must be a whole number"),
    "discount above one": ("train --sac.discount 1.5", "sac.discount is 1.5, but must lie in [0, 1]"),
    "gate without measure": (
        "train --imagination.rollout.measure none",
        "needs an uncertainty, but rollout.measure is none",
    ),
    "negative action noise": ("train --env.action-noise -0.1", "The action noise is -0.1"),
    "empty episodes": (
        "train --env.time-limit 0",
        "The time limit is 0, but an episode has at least one step",
    ),
    "more than the machine has": (f"train {SMALL} --steps 100000000000", "but the machine has"),
    # environments and functions
    "unknown environment": ("train --env Nonsense-v0", "no environment 'Nonsense-v0'"),
    "environment with a typo": (
        "train --env Hoper-v5",
        "no environment 'Hoper-v5'. Did you mean 'Hopper-v5'?",
    ),
    "discrete actions": ("train --env CartPole-v1", "continuous ones (a bounded float Box) are needed"),
    "unbounded actions": ("train --env odd_envs:unbounded", "are unbounded"),
    "image observations": ("train --env odd_envs:image", "are images (8, 8, 3)"),
    "no such module": ("train --env no_such_module:make", "cannot be imported"),
    "no such function": ("train --env odd_envs:whol", "has no function 'whol'. Did you mean 'whole'?"),
    "not a function": ("train --env odd_envs:number", "is not a function"),
    "function that fails": (
        "train --env odd_envs:broken",
        "failed to make an environment (RuntimeError: no licence)",
    ),
    "function of nothing": ("train --env odd_envs:nothing", "returned NoneType, not an environment"),
    "contact cost elsewhere": (f"train {SMALL} --env.contact-cost true", "has no contact cost to choose"),
    "termination without function": ("train --termination somewhere", "or package.module:function"),
    "termination not importable": ("train --termination odd_envs:gone", "cannot be imported"),
    "termination of wrong shape": ("train --termination odd_envs:wrong_shape", "returns shape"),
    # files and folders
    "no configuration file": ("train --config absent.yaml", "Cannot read the configuration absent.yaml"),
    "unknown key in a file": ("train --config typo.json", "--sac.wdth. Did you mean --sac.width?"),
    "file that is no YAML": ("train --config broken.yaml", "is neither YAML nor JSON (it breaks in line 1)"),
    "file of a list": ("train --config list.yaml", "holds no settings"),
    "finished run": (
        "train --out done_run --config done_run/config.json",
        "finished and is never overwritten",
    ),
    "resuming a finished run": ("train --resume done_run", "finished and is never overwritten"),
    "resuming nothing": ("train --resume absent", "there is no run in absent"),
    "resuming with another environment": ("train --resume open_run --env Hopper-v5", "but env.id was"),
    "resuming with another width": ("train --resume open_run --sac.width 16", "but sac.width was 8, is 16"),
    "resuming elsewhere": ("train --resume open_run --out other", "leave --out out"),
    "other settings in an unfinished run": (
        "train --config done_run/config.json --sac.width 16 --out open_run",
        "another configuration (sac.width was 8, is 16)",
    ),
    "folder of other things": (f"train {SMALL} --out thesis", "holds other things than a run"),
    "file in place of a folder": (f"train {SMALL} --out odd_envs.py", "is a file, not the folder of a run"),
    "folder below a file": (f"train {SMALL} --out odd_envs.py/run", "choose a folder that you may write to"),
    "damaged configuration of a run": ("train --resume torn_run", "config.json is damaged"),
    "wandb that is not installed": (f"train {SMALL} --wandb", 'pip install "macura[wandb]"'),
    # evaluate, export, plot and check
    "policy cut short": ("evaluate cut.safetensors", "is not a policy file, cut short, or damaged"),
    "no policy": ("evaluate absent.safetensors", "there is no policy file absent.safetensors"),
    "nothing to evaluate": ("evaluate", "`macura evaluate` needs a run folder or policy file"),
    "no episodes": ("evaluate done_run --episodes 0", "--episodes is 0, but must be at least 1"),
    "video of no kind": ("evaluate done_run --video film.txt", "is no video file"),
    "policy of another task": (
        "evaluate done_run --env InvertedPendulum-v5",
        "it was trained on Pendulum-v1",
    ),
    "nothing to export": ("export", "`macura export` needs a run folder or policy file"),
    "graph over a policy": (
        "export done_run --out done_run/policy.safetensors",
        "is no name for an ONNX graph; give a file such as policy.onnx",
    ),
    "nothing to plot": ("plot thesis", "nothing to plot"),
    "metric with a typo": ("plot done_run --metric sac/alfa", "Did you mean 'sac/alpha'?"),
    "figure of another format": (
        "plot done_run --out curves.pdf",
        "figures are PNG and SVG; try --out curves.png",
    ),
    "figure below a file": (
        "plot done_run --out odd_envs.py/curves.png",
        "Cannot write odd_envs.py/curves.png",
    ),
    "film below a file": (
        "evaluate done_run --video odd_envs.py/film.mp4",
        "Cannot write odd_envs.py/film.mp4",
    ),
    "study below a file": ("study kappa --out odd_envs.py/studies", "Cannot write odd_envs.py/studies"),
    "no model for MACURA": ("train --imagination none", "nothing would be learned; choose --algorithm sac"),
    "checking nothing that exists": ("check Hoper-v5", "Did you mean 'Hopper-v5'?"),
    "checking no steps": ("check Pendulum-v1 --steps 0", "--steps is 0, but must be at least 1"),
}


@pytest.fixture
def around(here):
    """Files that are wrong in one way each, beside the two runs."""
    (here / "typo.json").write_text(json.dumps({"sac": {"wdth": 64}}))
    (here / "broken.yaml").write_text("sac: {width: [")
    (here / "list.yaml").write_text("- steps\n")
    (here / "thesis").mkdir()
    (here / "thesis" / "thesis.tex").write_text("precious")
    (here / "torn_run").mkdir()
    (here / "torn_run" / "config.json").write_text('{"algorithm": "sac", "st')
    whole = (here / "done_run" / "policy.safetensors").read_bytes()
    (here / "cut.safetensors").write_bytes(whole[: len(whole) // 2])
    return here


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_gets_one_line_and_exit_code_2(name, around, capsys):
    call, said = WRONG[name]
    before = snapshot(around)
    code = main(call.split())
    output = capsys.readouterr()
    assert code == 2, output
    assert output.err.count("\n") == 1
    assert output.err.startswith("macura: ")
    assert said in output.err
    assert output.out == ""
    assert snapshot(around) == before
