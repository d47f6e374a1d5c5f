"""Runs a command of the Makefile and says how far it is, line by line, with or without a terminal.

`build_progress.py "the package" pip install -v .` passes on what pip fetches and how much of the core is
compiled, and speaks every half minute where the command is silent. Where a command fails, the end of its
output is shown.
"""

import collections
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable

KINDS = (
    (re.compile(r"^\s*Collecting (?P<name>[A-Za-z0-9_.\-]+)"), "fetching {name}"),
    (re.compile(r"^\s*\[\s*(?P<done>\d+)/(?P<all>\d+)\] (?:Building|Linking)"), "compiling {done} of {all}"),
    (re.compile(r"^\s*Installing collected packages"), "installing"),
)
SILENCE = 30.0  # seconds after which the last word is said again, with the time that has gone by
PAUSE = 3.0  # seconds between two lines at the least
LAST_LINES = 300  # of a command that fails


def step_of(line: str) -> str | None:
    """What a line of output says of how far its command is."""
    for pattern, words in KINDS:
        if found := pattern.match(line):
            return words.format(**found.groupdict())
    return None


class Progress:
    """What is said of a command while it runs. Times are seconds since it began."""

    def __init__(self, subject: str, say: Callable[[str], None]) -> None:
        self._subject, self._say = subject, say
        self._step = self._said = "started"
        self._at = -PAUSE
        say(f"{subject}: started")

    def hear(self, line: str, now: float) -> None:
        self._step = step_of(line) or self._step
        if self._step != self._said and now - self._at >= PAUSE:
            self._tell(self._step, now)

    def wait(self, now: float) -> None:
        """Nothing was heard for a while."""
        if self._step != self._said and now - self._at >= PAUSE:
            self._tell(self._step, now)
        elif now - self._at >= SILENCE:
            self._tell(f"{self._step}, {now:.0f} s so far", now)

    def end(self, code: int, now: float) -> None:
        self._say(f"{self._subject}: {'done' if code == 0 else f'failed with exit code {code}'}, {now:.0f} s")

    def _tell(self, words: str, now: float) -> None:
        self._say(f"{self._subject}: {words}")
        self._said, self._at = self._step, now


def lines_in_time(lines: Iterable[str], longest_wait: float) -> Iterable[str | None]:
    """The lines as they come, and None whenever none came for `longest_wait` seconds."""
    heard: queue.Queue[str | None] = queue.Queue()
    end = object()

    def listen() -> None:
        for line in lines:
            heard.put(line)
        heard.put(end)  # type: ignore[arg-type]

    threading.Thread(target=listen, daemon=True).start()
    while True:
        try:
            line = heard.get(timeout=longest_wait)
        except queue.Empty:
            line = None
        if line is end:
            return
        yield line


def run(subject: str, command: list[str]) -> int:
    began = time.monotonic()
    progress = Progress(subject, lambda words: print(words, flush=True))
    last: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        assert running.stdout is not None
        for line in lines_in_time(running.stdout, 1.0):
            if line is None:
                progress.wait(time.monotonic() - began)
            else:
                last.append(line)
                progress.hear(line, time.monotonic() - began)
    if running.returncode != 0:
        sys.stdout.writelines(last)
    progress.end(running.returncode, time.monotonic() - began)
    return running.returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
