# SPDX-License-Identifier: GPL-2.0
"""Runs a command and hands on its lines while it runs."""

import os
import signal
import subprocess
import threading


# Children that run, whatever thread started them.
RUNNING = set()


def kill(child):
    """End a child and what it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_all():
    """End all that is still running."""
    for child in list(RUNNING):
        kill(child)


class Process:
    """A command with a time limit; its output also goes to a log file.

    Iterate over it for the lines; status and timed_out hold afterwards.
    The limit ends the whole process group.
    """

    def __init__(self, argv, log, cwd=None, env=None, timeout=600):
        self.argv, self.log, self.cwd = argv, log, cwd
        self.env = dict(os.environ, **(env or {}))
        self.timeout = timeout
        self.status = None
        self.timed_out = False

    def __iter__(self):
        os.makedirs(os.path.dirname(self.log), exist_ok=True)
        with open(self.log, "w", encoding="utf-8") as log, \
                subprocess.Popen(self.argv, cwd=self.cwd, env=self.env,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT,
                                 text=True, errors="replace",
                                 start_new_session=True) as child:
            RUNNING.add(child)
            timer = threading.Timer(self.timeout, self._expire, [child])
            timer.start()
            try:
                for line in child.stdout:
                    log.write(line)
                    log.flush()
                    yield line
                self.status = child.wait()
            finally:
                timer.cancel()
                RUNNING.discard(child)
                if child.poll() is None:
                    kill(child)

    def _expire(self, child):
        self.timed_out = True
        kill(child)

    def complaint(self):
        """Why the command itself is to be called failed, or ""."""
        if self.timed_out:
            return "no end within %d s" % self.timeout
        if self.status:
            return "status %d" % self.status
        return ""
