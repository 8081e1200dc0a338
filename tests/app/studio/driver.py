"""The real page in a real browser, as a person uses it: finds things by what they say, waits until they are there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self

from tests.app.report.browser import Browser

PATIENCE = 120.0
# The number of a key, and what it types.
NAMED_KEYS = {
    "Tab": (9, ""),
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    " ": (32, " "),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
}


class Server:
    """``p4f studio`` in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        command = [
            sys.executable,
            "-c",
            "from problog4fairness.app.cli.main import main; main()",
            "studio",
            "--no-browser",
        ]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        self._errors = TemporaryFile("w+")  # noqa: SIM115 - a pipe that nobody reads would hold the server up
        self._process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment
        )

    def __enter__(self) -> Self:
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        found = re.search(r"http://\S+", line)
        assert found is not None, line + self.kill()
        self.address = found[0]
        return self

    def __exit__(self, *_: object) -> None:
        print(self.kill(signal.SIGINT), file=sys.stderr)  # shown where a test fails

    def kill(self, how: signal.Signals = signal.SIGKILL) -> str:
        """End it; what it wrote on standard error."""
        if self._errors.closed:
            return ""
        self._process.send_signal(how)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()  # type: ignore[union-attr]
        with self._errors as errors:
            errors.seek(0)
            return errors.read()

    @property
    def process(self) -> int:
        """Its process id."""
        return self._process.pid

    def children(self) -> list[int]:
        """The processes that it started, and those that they started."""
        found, new = [], [self.process]
        while new:
            new = [child for one in new for child in _children(one)]
            found += new
        return found

    def most_memory(self) -> int:
        """The most bytes that it and the processes that it started have had, together."""
        found = 0
        for process in (self.process, *self.children()):
            with suppress(OSError):
                told = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
                found += 1024 * int(told[1]) if told else 0
        return found

    def workers(self) -> list[int]:
        """Of these, those that do long work; waits until there is one."""
        end = time.monotonic() + PATIENCE
        while not (found := [child for child in self.children() if _does_long_work(child)]):
            assert time.monotonic() < end, "no long work was begun"
            time.sleep(0.01)
        return found


def _does_long_work(process: int) -> bool:
    with suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def _children(process: int) -> list[int]:
    """The processes that one started; threads and processes may end while they are listed."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


class Page:
    """A tab that shows the page."""

    def __init__(self, profile: Path, width: int = 1280) -> None:
        self._browser, self._width = Browser(profile), width

    def __enter__(self) -> Self:
        self._browser.__enter__()
        self.resize(self._width)
        return self

    def __exit__(self, *problem: object) -> None:
        self._browser.__exit__(*problem)

    @property
    def browser(self) -> Browser:
        """The browser itself."""
        return self._browser

    def resize(self, width: int, height: int = 900) -> None:
        """Change how large it is."""
        self._browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def open(self, address: str) -> None:
        """Go to an address and wait for the screen."""
        self.ask("window.left = true")  # what is there until the new page comes is not looked at
        self._browser.call("Page.navigate", url=address)
        self.until("!window.left && !!document.querySelector('main.screen h2') && window.did_handshake === true")

    def ask(self, script: str) -> Any:
        """The value of a script in the page."""
        answer = self._browser.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, script: str, seconds: float = PATIENCE) -> None:
        """Wait until a script is true."""
        end = time.monotonic() + seconds
        while True:
            try:
                if self.ask(script):
                    return
            except (AssertionError, RuntimeError):
                pass  # the page is being replaced
            assert time.monotonic() < end, f"not within {seconds} s: {script}; the page says: {self.words()}"
            time.sleep(0.05)

    def words(self) -> str:
        """Everything that the page says."""
        return str(self.ask("document.body.innerText"))

    def says(self, words: str, seconds: float = PATIENCE) -> None:
        """Wait until the page says something."""
        self.until(f"document.body.innerText.includes({json.dumps(words)})", seconds)

    def click(self, words: str, then: str | None = None) -> None:
        """Press the first button that says this; again while ``then`` does not become true."""
        self._press(
            f"[...document.querySelectorAll('button')].find(b => b.innerText.includes({json.dumps(words)}))", then
        )

    def pick(self, place: str, then: str | None = None) -> None:
        """Press what a selector finds; again while ``then`` does not become true."""
        self._press(f"document.querySelector({json.dumps(place)})", then)

    def _press(self, find: str, then: str | None) -> None:
        """Find and press in one step: the page may be drawn anew, and a press on what is replaced just then is lost."""
        end = time.monotonic() + PATIENCE
        while True:
            act = "own.dataset.pressed = true, own.focus(), own.click(), true"
            self.until(f"(own => !!own && !own.disabled && ({act}))({find}) || ({then or 'false'})")
            if then is None:
                return
            with suppress(AssertionError):
                self.until(then, 10)
                return
            assert time.monotonic() < end, f"pressed, but never {then}; the page says: {self.words()}"

    def begin(self, work: str) -> None:
        """Begin long work by its button, which is replaced as soon as it has begun."""
        find = f"document.querySelector('[data-do={work}]')"
        self.until(f"!!{find}")
        self._press(find, f"!{find}?.dataset.pressed")

    def review(self, name: str) -> None:
        """Begin to review under a name, on the screen of the audit."""
        self.until("document.body.innerText.includes('Who reviews?')")
        self.fill("Your name", name)
        self.click("Begin", f"document.body.innerText.includes('Review by {name}')")
        self.until("!!document.querySelector('[data-key=u]')")

    def fill(self, label: str, value: str) -> None:
        """Type into the field with this label."""
        labels = "[...document.querySelectorAll('label')]"
        find = f"{labels}.find(l => l.innerText.includes({json.dumps(label)}))?.querySelector('input')"
        end = time.monotonic() + PATIENCE
        while True:
            self.until(f"!!{find}")
            self.ask(f"{find}?.focus(), {find}?.select()")
            self._browser.call("Input.insertText", text=value)
            if self.ask(f"{find}?.value") == value:
                return
            assert time.monotonic() < end, f"{label} does not take {value}; the page says: {self.words()}"

    def type_program(self, program: str) -> None:
        """Replace the whole program in the editor, as select all and typing does."""
        self.until("!!document.querySelector('.cm-content')")
        self.ask("document.querySelector('.cm-content').focus(), document.execCommand('selectAll')")
        self._browser.call("Input.insertText", text=program)

    def choose(self, label: str, value: str) -> None:
        """Choose a value in the list with this label; again where the page was just being drawn anew."""
        end = time.monotonic() + PATIENCE
        while not self._chose(label, value):
            assert time.monotonic() < end, f"{label} cannot be {value}; the page says: {self.words()}"

    def _chose(self, label: str, value: str) -> bool:
        find = f"[...document.querySelectorAll('label.q-select')].find(l => l.innerText.includes({json.dumps(label)}))"
        option = (
            f"[...document.querySelectorAll('.q-menu .q-item')].find(i => i.innerText.trim() === {json.dumps(value)})"
        )
        try:
            self.until(f"!!{find}")
            self.ask(f"{find}.click()")
            self.until(f"!!{option}", 5)
            self.ask(f"{option}.click()")
            self.until(f"{find}.innerText.includes({json.dumps(value)})", 5)
            self.press("Escape")  # a list of which several may be chosen stays open
            self.until("!document.querySelector('.q-menu')", 5)
        except AssertionError:
            return False
        return True

    def press(self, key: str, *, control: bool = False) -> None:
        """Press a key of the keyboard."""
        code = key if len(key) > 1 else f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"
        number, typed = NAMED_KEYS.get(key) or (ord(key.upper()), "" if control else key)
        code = "Space" if key == " " else code
        for kind in ("keyDown", "keyUp"):
            self._browser.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code,
                text=typed if kind == "keyDown" else "",
                modifiers=2 if control else 0,
                windowsVirtualKeyCode=number,
            )

    def give(self, file: Path, place: str = "input[type=file]") -> None:
        """Give a file to the page, as dropping it does."""
        self.until(f"!!document.querySelector({json.dumps(place)})")
        root = self._browser.call("DOM.getDocument")["root"]["nodeId"]
        node = self._browser.call("DOM.querySelector", nodeId=root, selector=place)["nodeId"]
        self._browser.call("DOM.setFileInputFiles", files=[str(file)], nodeId=node)
