"""Runs in processes of their own, one a core: they are sent the data and the keys of their candidates, no other."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from threading import Thread

from suffice.comparison.candidates import Candidate
from suffice.comparison.runs import Question, Run, Task, runs
from suffice.errors import FileError, SufficeError

DIED = "A worker of the comparison ended without a word: there may be too little memory.\nGive fewer workers."


def worked(request: Question, tasks: Sequence[Task], workers: int) -> Iterator[Run]:
    """The runs of all tasks, as they are done; in this process where one worker is enough."""
    sent = _sendable(request) if workers > 1 and len(tasks) > 1 else None
    if sent is None or _sendable([task.candidate for task in tasks]) is None:
        for task in tasks:
            yield from runs(request, task)
        return
    waiting, found = deque(tasks), SimpleQueue[Run | Exception | None]()
    processes = [_process() for _ in range(min(workers, len(tasks)))]
    threads = [Thread(target=_fed, args=(each, sent, waiting, found), daemon=True) for each in processes]
    try:
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:
            each = found.get()
            if isinstance(each, Exception):
                raise each
            if each is None:
                left -= 1
            else:
                yield each
    finally:  # also where whoever asked goes away
        waiting.clear()
        for process in processes:
            process.kill()
        for process, thread in zip(processes, threads, strict=True):
            process.wait()
            thread.join()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with contextlib.suppress(OSError):  # what was to be sent to a process that is gone
                    pipe.close()


def _process() -> subprocess.Popen[bytes]:
    """A new interpreter: it neither repeats the caller's script nor inherits threads and locks."""
    command = [sys.executable, "-m", "suffice.comparison.workers"]
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(  # noqa: S603  # our own module
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )


def _sendable(asked: Question | Sequence[Candidate]) -> bytes | None:
    """None where data are rows of an engine that cannot be sent, or a method or its model is."""
    try:
        return pickle.dumps(asked)
    except (TypeError, AttributeError, pickle.PicklingError):
        return None


def _fed(
    process: subprocess.Popen[bytes], sent: bytes, waiting: deque[Task], found: SimpleQueue[Run | Exception | None]
) -> None:
    """Sends a task after the other, and hands on what comes back."""
    into, out = process.stdin, process.stdout
    assert into is not None
    assert out is not None
    try:
        into.write(sent)
        while waiting:
            try:
                task = waiting.popleft()
            except IndexError:
                break
            pickle.dump(task, into)
            into.flush()
            while (each := pickle.load(out)) is not None:  # noqa: S301  # of the process that was started here
                found.put(each)
        found.put(None)
    except Exception:  # whoever waits for this thread would wait for ever
        found.put(FileError(DIED))


def work() -> None:
    """A worker, until nothing more is sent; nothing of it reaches the terminal, as a traceback may hold data."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    into, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    request: Question = pickle.load(into)  # noqa: S301  # of the process that started it
    while True:
        try:
            task: Task = pickle.load(into)  # noqa: S301
        except EOFError:
            return
        found = runs(request, task)
        while True:
            try:
                each: Run | Exception | None = next(found, None)
            except SufficeError as problem:
                each = problem
            except Exception as problem:
                each = FileError(f"{task.candidate.name} ended with {type(problem).__name__}: please report it.")
            pickle.dump(each, out)
            out.flush()
            if each is None:
                break


if __name__ == "__main__":
    work()
