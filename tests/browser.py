"""A real Chromium for tests of pages: its DevTools protocol over two pipes, with nothing but the
standard library.

`Browser` starts one without a window; `open` loads a page, `run` evaluates JavaScript in it,
`errors` are what it wrote to the console and what it threw. `CHROMIUM` is the program, None where
there is none: such tests skip.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

__all__ = ["CHROMIUM", "Browser"]

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip
_PATIENCE = 120  # seconds without a word


def _high(handle):
    """The handle under a number that the shell below does not use."""
    moved = fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(handle)
    return moved


class Browser:
    """One browser with one page; use it as a context."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (to_read, self._to), (self._from, to_write) = map(_high, os.pipe()), map(_high, os.pipe())
        # The browser reads commands from handle 3 and writes answers to 4.
        command = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", CHROMIUM, *_OPTIONS,
             f"--user-data-dir={self._folder.name}", "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._rest, self._number, self._session, self.errors = b"", 0, None, []
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *error):
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def send(self, method, **params):
        """One command of the protocol, and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self):
        while b"\0" not in self._rest:
            if not select.select([self._from], [], [], _PATIENCE)[0]:
                raise RuntimeError(f"the browser says nothing for {_PATIENCE} s")
            data = os.read(self._from, 1 << 16)
            if not data:
                raise RuntimeError("the browser has ended")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        found = json.loads(message)
        if found.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded") or (
            found.get("method") == "Runtime.consoleAPICalled"
            and found["params"]["type"] in ("error", "warning", "assert")
        ):
            self.errors.append(found["params"])
        return found

    def open(self, path, width=1280, height=900, dark=False, at=""):
        """Load a file in a window of this size, with the light or the dark theme; `at`: #PLACE."""
        self.resize(width, height)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[theme])
        self.errors.clear()
        self.send("Page.navigate", url=Path(path).absolute().as_uri() + at)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")
        self.settle()

    def wait(self, condition):
        """Wait until a condition of JavaScript holds on a page whose scripts have run."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            try:
                if self.run(f"document.readyState === 'complete' && ({condition})"):
                    return
            except RuntimeError as error:
                if "navigated" not in str(error):
                    raise
        raise RuntimeError(f"{condition}: not for {_PATIENCE} s")

    def resize(self, width, height=900):
        """Another size of the window; a narrow one is a phone."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip

    def run(self, script):
        """The value of an expression, or of a promise."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description"))
        return found["result"].get("value")

    def settle(self):
        """Wait until what is drawn later is drawn."""
        self.wait("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def click(self, selector):
        """A click with the mouse in the middle of an element."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); "
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)
        self.settle()

    def mouse(self, kind, x, y, **more):
        """One event of the mouse."""
        button = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button, **more)

    def key(self, *keys):
        """Keys pressed one after the other, in what has the focus."""
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
            code = _CODES.get(key, ord(key[0].upper()))
            for kind in ("keyDown", "keyUp"):
                self.send(
                    "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                    **(text if kind == "keyDown" else {}),
                )  # fmt: skip
        self.settle()

    def screenshot(self, path):
        """A picture of the whole page."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        Path(path).write_bytes(base64.b64decode(shot["data"]))


_CODES = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13,
          "Escape": 27, "Tab": 9, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34}  # fmt: skip
