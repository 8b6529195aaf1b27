"""A report in headless Chromium: whatever a reader would stumble over, at three widths, in light and dark.

    python tests/browser/report.py docs/sample-report/index.html [folder for pictures]

Fails on messages in the console, requests to the network, a page wider than its window, text too small or too pale.
Needs a Chromium (`apt-get install chromium`) and nothing else: it is spoken to through two pipes. `CHROMIUM` names one
that is not on the path.
"""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WIDTHS = 360, 768, 1280
SMALLEST = 8
"""CSS pixels of the height of a word in a figure."""
NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
FLAGS = "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"

LOOK = """(() => {
  const light = colour => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const [r, g, b] = parts.map(x => (x / 255 <= 0.04045 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const against = element => contrast(light(getComputedStyle(element).color), ground);
  const words = [...document.querySelectorAll('svg text')].map(text => text.getBoundingClientRect());
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    dark: ground < 0.2,
    contrast: against(document.body),
    palest: Math.min(...[...document.querySelectorAll('.quiet, .verdict, dt')].map(against)),
    smallest: Math.min(...words.filter(box => box.height).map(box => box.height)),
    figures: document.querySelectorAll('svg').length,
    height: document.documentElement.scrollHeight,
  };
})()"""


class Chromium:
    """The DevTools protocol: one JSON object after the other, each ended by a zero byte."""

    def __init__(self, write: int, read: int) -> None:
        self._write = os.fdopen(write, "wb")
        self._read = os.fdopen(read, "rb")
        self._count = 0
        self.session: str | None = None
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; events on the way are kept."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        message |= {"sessionId": self.session} if self.session else {}
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while (answer := self._next()).get("id") != self._count:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def await_event(self, method: str) -> None:
        """Wait until something has happened."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def open_tab(self) -> None:
        """A tab of its own for what follows, without what the last one saw."""
        self.session, self.events = None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def _next(self) -> dict[str, Any]:
        message = bytearray()
        while (byte := self._read.read(1)) not in (b"\0", b""):
            message += byte
        if not byte:
            raise RuntimeError("Chromium has gone")
        return json.loads(message)


@contextmanager
def launched(executable: str) -> Iterator[Chromium]:
    """A browser for as long as the context lasts."""
    commands, answers = os.pipe(), os.pipe()
    theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 5) for fd in (commands[0], answers[1])]
    with tempfile.TemporaryDirectory() as profile:
        shell = f'exec "$0" "$@" 3<&{theirs[0]} 4>&{theirs[1]}'
        line = ["sh", "-c", shell, executable, *FLAGS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(line, pass_fds=theirs, stderr=subprocess.DEVNULL)
        for fd in (commands[0], answers[1], *theirs):
            os.close(fd)
        browser = Chromium(commands[1], answers[0])
        try:
            yield browser
            browser.session = None
            browser.ask("Browser.close")
        finally:
            process.wait(timeout=30)


def look(browser: Chromium, page: Path, width: int, scheme: str, pictures: Path | None) -> list[str]:
    """Open the page in a window of a width and a colour scheme, and say what is wrong with it."""
    browser.open_tab()
    browser.ask(
        "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
    )
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.ask("Page.navigate", url=page.resolve().as_uri())
    browser.await_event("Page.loadEventFired")
    seen = browser.ask("Runtime.evaluate", expression=LOOK, returnByValue=True)["result"]["value"]
    print(page.name, width, scheme, json.dumps({name: round(value, 2) for name, value in seen.items()}))
    if pictures:
        size = {"x": 0, "y": 0, "width": width, "height": seen["height"], "scale": 1}
        shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=size)["data"]
        (pictures / f"{page.parent.name}-{width}-{scheme}.png").write_bytes(base64.b64decode(shot))
    return [f"{page} at {width}, {scheme}: {problem}" for problem in (*heard(browser), *wrong(seen, scheme))]


def heard(browser: Chromium) -> Iterator[str]:
    """What the console said, and what was asked of the network."""
    for event in browser.events:
        about = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            if not about["request"]["url"].startswith(("file:", "data:")):
                yield f"asks for {about['request']['url']}"
        elif event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            yield f"the console says {json.dumps(about)[:300]}"


def wrong(seen: dict[str, Any], scheme: str) -> Iterator[str]:
    """What a reader would complain of."""
    if seen["overflow"] > 0:
        yield f"{seen['overflow']} pixels too wide"
    if seen["dark"] != (scheme == "dark"):
        yield "the colours of the other scheme"
    if seen["contrast"] < 7 or seen["palest"] < 4.5:
        yield f"contrast {seen['contrast']:.1f}, of the palest text {seen['palest']:.1f}"
    if not seen["figures"]:
        yield "no figure"
    elif seen["smallest"] < SMALLEST:
        yield f"a word in a figure is {seen['smallest']:.1f} pixels high"


def main() -> int:
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_file():
        print(
            "Which page? For example docs/sample-report/index.html; a folder for pictures may follow.",
            file=sys.stderr,
        )
        return 2
    executable = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        print(
            f"None of {', '.join(NAMES)} is on the path; install one, or set CHROMIUM to it.", file=sys.stderr
        )
        return 2
    page, pictures = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
    problems: list[str] = []
    with launched(executable) as browser:
        print(browser.ask("Browser.getVersion")["product"])
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                problems += look(browser, page, width, scheme, pictures)
    print(*problems, sep="\n", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
