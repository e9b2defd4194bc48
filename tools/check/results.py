# SPDX-License-Identifier: GPL-2.0
"""What a test came to."""

import dataclasses

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"


@dataclasses.dataclass
class Result:
    """One test: name, what it came to, and why or its last words."""

    name: str
    status: str
    reason: str = ""
    detail: list = dataclasses.field(default_factory=list)

    def under(self, prefix):
        """The same result with a name below another one."""
        name = prefix + ": " + self.name if prefix else self.name
        return dataclasses.replace(self, name=name)


def passed(name):
    return Result(name, PASSED)


def failed(name, reason="", detail=()):
    return Result(name, FAILED, reason, list(detail))


def skipped(name, reason):
    return Result(name, SKIPPED, reason)
