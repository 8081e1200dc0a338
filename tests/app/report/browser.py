"""Headless Chromium over its debugging pipe: no port, no driver, nothing to install besides the browser."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--mute-audio",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")


def installed() -> str | None:
    """The browser, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One tab of a browser with an empty profile; ``events`` are what it reported."""

    def __init__(self, profile: Path) -> None:
        path = installed()
        if path is None:
            raise RuntimeError("no Chromium")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        command = [
            path,
            *FLAGS,
            f"--user-data-dir={profile}",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "about:blank",
        ]
        # The browser reads commands from descriptor 3 and answers on 4.
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, *command],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session = b"", 0, None
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, file: Path) -> None:
        """Open a file and wait until it has loaded."""
        self.call("Page.navigate", url=file.as_uri())
        self.until(f"location.href === {json.dumps(file.as_uri())} && document.readyState === 'complete'")

    def until(self, script: str, seconds: float = 120) -> bool:
        """Wait until a script is true; whether it became so."""
        end = time.monotonic() + seconds
        while not self.call("Runtime.evaluate", expression=script)["result"].get("value"):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def look(self, width: int, scheme: str, shot: Path) -> dict[str, Any]:
        """Take a picture of the whole page at a width and a colour scheme; widths, height and colours of the page."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        # A page is laid out in the frames after such a change; one that stays too wide is measured as it is.
        self.until(f"innerWidth === {width} && matchMedia('(prefers-color-scheme: {scheme})').matches")
        self.until("document.documentElement.scrollWidth <= document.documentElement.clientWidth", 10)
        script = """JSON.stringify({
            wide: document.documentElement.scrollWidth, shown: document.documentElement.clientWidth,
            height: document.documentElement.scrollHeight, paper: getComputedStyle(document.body).backgroundColor,
            ink: getComputedStyle(document.body).color,
            letters: getComputedStyle(document.querySelector('svg text')).fill,
            drawings: [...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().height)})"""
        seen: dict[str, Any] = json.loads(self.call("Runtime.evaluate", expression=script)["result"]["value"])
        clip = {"x": 0, "y": 0, "width": width, "height": seen["height"], "scale": 1}
        picture = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        shot.write_bytes(base64.b64decode(picture["data"]))
        return seen

    def print(self, file: Path) -> None:
        """Print the page as PDF."""
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def complaints(self) -> list[str]:
        """Errors and warnings: of scripts, of the page's policy, of the console."""
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            if event.get("method") == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
            if event.get("method") == "Runtime.consoleAPICalled":
                found.append(str(event["params"]["args"]))
        return found

    def _next(self, seconds: float = 120) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found
