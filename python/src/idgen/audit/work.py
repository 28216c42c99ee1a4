"""The folder of temporary files, which goes away however the audit ends, and the signals that end it."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from .failure import Unreadable
from .reading import NO_EXTENSIONS

_PREFIX = "idgen-audit-"


def _remove(folder: Path) -> None:
    for _ in range(50):  # a query that is still running may write meanwhile
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.02)


def _remove_abandoned(parent: Path) -> None:
    """Folders of audits that were killed: nothing holds their lock."""
    for lock in parent.glob(f"{_PREFIX}*/lock"):
        with suppress(OSError):
            folder = lock.parent.lstat()  # of another user, the lock may be anything, such as a link to a file of ours
            if folder.st_uid != os.getuid() or not stat.S_ISDIR(folder.st_mode):
                continue
            with lock.open("r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(lock.parent)


class Work:
    def __init__(self, parent: str | None):
        where = Path(parent or os.environ.get("TMPDIR") or "/tmp").absolute()  # and no URL
        try:
            _remove_abandoned(where)
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))
            self._lock = (self.folder / "locked").open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            (self.folder / "locked").rename(self.folder / "lock")  # another audit must not see it before it is held
        except OSError as error:
            raise Unreadable(f"cannot make a folder for temporary files in {where}: {error.strerror}") from None
        self._watch_signals()

    def _watch_signals(self) -> None:
        """A thread ends the process, because a query of DuckDB lets no handler of Python run until it is over."""
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        ends, self._wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)
        signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._handlers[number] = signal.signal(number, lambda *_: None)

        def watch() -> None:
            while data := os.read(ends, 1):
                if data[0] in self._handlers:
                    _remove(self.folder)
                    os._exit(128 + data[0])
            os.close(ends)

        threading.Thread(target=watch, daemon=True).start()

    def _stop_watching(self) -> None:
        if not self._handlers:
            return
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)
        os.close(self._wakeup)

    def connect(self, memory: int) -> duckdb.DuckDBPyConnection:
        threads = max(1, min(len(os.sched_getaffinity(0)), memory // (256 << 20)))
        return duckdb.connect(
            str(self.folder / "ids.db"),
            config={
                "memory_limit": f"{memory // 1000}KB",
                "threads": threads,
                "temp_directory": str(self.folder / "spilled"),
                **NO_EXTENSIONS,
                "preserve_insertion_order": "true",
            },
        )

    def __enter__(self) -> Work:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _remove(self.folder)
        self._lock.close()
        self._stop_watching()


class Progress:
    """What the audit does, and for how long, on a terminal."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._words, self._since = "", time.monotonic()
        self._done = threading.Event()
        if self._is_shown:
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()

    def at(self, words: str) -> None:
        self._words = words

    def _show(self) -> None:
        while not self._done.wait(0.5):
            sys.stderr.write(f"\r\033[K{self._words} ({time.monotonic() - self._since:.0f} s)")
            sys.stderr.flush()

    def end(self) -> None:
        if self._is_shown and not self._done.is_set():
            self._done.set()
            self._thread.join()
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
