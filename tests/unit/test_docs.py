"""What the pages say works: links lead somewhere, commands are understood, the example environments train."""

import re
import shlex
from pathlib import Path

import pytest

from macura.cli import main as cli
from macura.cli import train

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for folder in (".", "docs", "docs/decisions", "results") for page in (ROOT / folder).glob("*.md")
)
EXAMPLES = ("README.md", "docs/own-environment.md")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [text for kind, text in BLOCK.findall(page.read_text()) if kind == language]


def commands(page):
    """Every `macura ...` in the page, in blocks and in the running text, without its comment."""
    text = page.read_text()
    lines = [line for block in blocks(page, "") for line in block.splitlines()]
    lines += re.findall(r"`(macura [^`]*)`", BLOCK.sub("", text))
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("macura ")]


@pytest.fixture
def robot(tmp_path, monkeypatch, request):
    """A folder with the example environment of a page as robot.py."""
    (code,) = [block for block in blocks(ROOT / request.param, "python") if "class Cart" in block]
    (tmp_path / "robot.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "robot", raising=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#\s]+)", BLOCK.sub("", page.read_text()))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page):
    assert {words[0] for words in commands(page)} - cli.COMMANDS.keys() - {"COMMAND"} == set()


@pytest.mark.parametrize(("robot", "page"), [(name, name) for name in EXAMPLES], indirect=["robot"])
def test_training_commands_are_understood(robot, page):
    asked = [words[1:] for words in commands(ROOT / page) if words[0] == "train"]
    assert len(asked) >= 2
    for words in asked:
        launch, settings = train.understand(words)
        if launch.resume is None:
            train.configure(settings)


@pytest.mark.parametrize("robot", EXAMPLES, indirect=True)
def test_the_example_environment_can_be_trained_on(robot, capsys):
    assert cli.main(["check", "robot:Cart", "--env.time-limit", "200", "--steps", "300"]) == 0
    assert "robot:Cart can be trained on: 0 problems" in capsys.readouterr().out


@pytest.mark.parametrize("robot", ["docs/own-environment.md"], indirect=True)
def test_the_guides_termination_function_is_right(robot):
    line = "train --env robot:Cart --env.time-limit 20 --preset quick --steps 30 --epoch-steps 30 --warmup-steps 20"
    small = "--imagination.every 5 --imagination.rollout.rollouts 8 --sac.width 8 --evaluation-episodes 1"
    tiny = "--imagination.model.width 8 --imagination.model.members 2 --imagination.model.fewest-steps 1"
    assert cli.main(f"{line} {small} {tiny} --termination robot:fell --out runs/cart".split()) == 0
    assert '"model/termination_disagreement": 0.0' in Path("runs/cart/metrics.jsonl").read_text()


def test_python_in_the_pages_is_python():
    for page in PAGES:
        for block in blocks(page, "python"):
            compile(block, str(page), "exec")
