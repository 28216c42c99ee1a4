"""Borrows a pool's connections, and waits for the pool no longer than a bound. Giving them back is the borrower's part.

A pool's own wait can be long, or endless, and nobody can end it. So a thread of ours waits there, and the caller waits
for that thread. A connection that comes too late is kept for the next caller for as long as the bound: a pool that
serves its waiters in turn then serves us before the transactions that are about to empty it again.

A thread of its own has a second use: many frameworks bind a transaction to its thread, and what is borrowed on another
thread can never be the connection of the transaction that asks for an id.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_all: weakref.WeakSet[Lender] = weakref.WeakSet()


class NobodyLendsError(Exception):
    """The pool gave no connection within the bound."""


class _Job:
    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.result: Future[Any] = Future()


class Lender:
    """Runs work on connections of one pool. Any thread may call, several at once."""

    def __init__(self, connect: Callable[[], Any], release: Callable[[Any], object], bound: float) -> None:
        self._connect = connect
        self._release = release
        self.bound = bound
        self.forget_threads()
        _all.add(self)

    def forget_threads(self) -> None:
        """Of the parent: in a forked child they do not run."""
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._seekers = 0  # threads that will take a job each, once they have a connection; never fewer than jobs

    def run(self, work: Callable[[Any], _Result]) -> _Result:
        """work(connection), which also gives it back. Raises NobodyLendsError, and what the pool and `work` raise."""
        job = _Job(work)
        self._wait_for_connection(job)
        try:
            result: _Result = job.result.result()
            return result
        finally:
            del job  # an exception's traceback holds this frame, and the job holds the exception

    def _wait_for_connection(self, job: _Job) -> None:
        with self._changed:
            if self._seekers == len(self._waiting):
                threading.Thread(target=self._seek, name="idgen-sql", daemon=True).start()
                self._seekers += 1
            self._waiting.append(job)
            self._changed.notify_all()
            try:
                begun = self._changed.wait_for(lambda: job not in self._waiting, self.bound)
            finally:
                if job in self._waiting:
                    self._waiting.remove(job)
        if not begun:
            raise NobodyLendsError

    def _seek(self) -> None:
        try:
            connection = self._connect()
        except BaseException as exception:
            if job := self._next_job(0):
                job.result.set_exception(exception)
            return
        job = self._next_job(self.bound)
        if job is None:
            with contextlib.suppress(Exception):  # nobody is left to be told
                self._release(connection)
            return
        try:
            result = job.work(connection)
        except BaseException as exception:
            job.result.set_exception(exception)
        else:
            job.result.set_result(result)
        job = connection = None  # as above

    def _next_job(self, linger: float) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting, linger)
            self._seekers -= 1
            job = self._waiting.popleft() if self._waiting else None
            self._changed.notify_all()
            return job


def _forget_threads() -> None:
    for lender in _all:
        lender.forget_threads()


os.register_at_fork(after_in_child=_forget_threads)
