"""The real page in a real browser, as a person uses it: finds things by what they say, waits until they are there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

from tests.reporting.browser import Browser

PATIENCE = 120.0


class Server:
    """``p4f studio`` in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-c", "from problog4fairness.cli.main import main; main()", "studio", "--no-browser"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self) -> Self:
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        found = re.search(r"http://\S+", line)
        assert found is not None, line + self.kill()
        self.address = found[0]
        return self

    def __exit__(self, *_: object) -> None:
        self.kill(signal.SIGINT)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> str:
        """End it; what it wrote on standard error."""
        if self._process.poll() is None:
            self._process.send_signal(how)
        try:
            return self._process.communicate(timeout=60)[1] or ""
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.communicate()[1] or ""
        except ValueError:
            return ""


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

    def resize(self, width: int) -> None:
        """Change the width."""
        self._browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )

    def open(self, address: str) -> None:
        """Go to an address and wait for the screen."""
        self._browser.call("Page.navigate", url=address)
        self.until("!!document.querySelector('main.screen h2') && window.did_handshake === true")

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

    def click(self, words: str) -> None:
        """Press the first button that says this."""
        find = f"[...document.querySelectorAll('button')].find(b => b.innerText.includes({json.dumps(words)}))"
        self.until(f"!!{find}")
        self.ask(f"{find}.focus(), {find}.click()")

    def begin(self, work: str) -> None:
        """Begin long work by its button."""
        self.until(f"!!document.querySelector('[data-do={work}]')")
        self.ask(f"document.querySelector('[data-do={work}]').click()")

    def fill(self, label: str, value: str) -> None:
        """Type into the field with this label."""
        labels = "[...document.querySelectorAll('label')]"
        find = f"{labels}.find(l => l.innerText.includes({json.dumps(label)}))?.querySelector('input')"
        self.until(f"!!{find}")
        self.ask(f"{find}.focus()")
        self._browser.call("Input.insertText", text=value)

    def type_program(self, program: str) -> None:
        """Replace the whole program in the editor, as select all and typing does."""
        self.until("!!document.querySelector('.cm-content')")
        self.ask("document.querySelector('.cm-content').focus(), document.execCommand('selectAll')")
        self._browser.call("Input.insertText", text=program)

    def choose(self, label: str, value: str) -> None:
        """Choose a value in the list with this label."""
        find = f"[...document.querySelectorAll('label.q-select')].find(l => l.innerText.includes({json.dumps(label)}))"
        self.until(f"!!{find}")
        self.ask(f"{find}.click()")
        option = (
            f"[...document.querySelectorAll('.q-menu .q-item')].find(i => i.innerText.trim() === {json.dumps(value)})"
        )
        self.until(f"!!{option}")
        self.ask(f"{option}.click()")
        self.until("!document.querySelector('.q-menu .q-item')")

    def press(self, key: str) -> None:
        """Press a key of the keyboard."""
        code = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"
        for kind in ("keyDown", "keyUp"):
            self._browser.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code, text=key if kind == "keyDown" else ""
            )

    def give(self, file: Path, place: str = "input[type=file]") -> None:
        """Give a file to the page, as dropping it does."""
        self.until(f"!!document.querySelector({json.dumps(place)})")
        root = self._browser.call("DOM.getDocument")["root"]["nodeId"]
        node = self._browser.call("DOM.querySelector", nodeId=root, selector=place)["nodeId"]
        self._browser.call("DOM.setFileInputFiles", files=[str(file)], nodeId=node)
