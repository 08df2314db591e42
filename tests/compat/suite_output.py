"""Reads what Redis's Tcl test suite prints in external-server mode, and compares runs of it."""

import collections
import dataclasses
import re

_PASSED = re.compile(r"\[ok\]: (?P<name>.*) \(\d+ ms\)")
_FAILED = re.compile(r"\[err\]: (?P<name>.*) in tests/\S+\.tcl")
_FILE_DONE = re.compile(r"\[\d+/\d+ done\]: ")
_CLIENT_STATE = re.compile(r"\S+ => \((?P<state>[A-Z ]+)\) (?P<name>.*)")
_NEW_REPORT = re.compile(r"\[(?:ok|err|skip|ignore|exception|ready|testing|TIMEOUT)\]: |\[\d+/\d+ done\]: |\S+ => \(")
_END = "The End"


@dataclasses.dataclass
class Failure:
    """A test that failed, or with an empty name code of a block that is in no test: its set-up or what is between tests."""

    name: str
    message: str


@dataclasses.dataclass
class SuiteOutput:
    passed: list = dataclasses.field(default_factory=list)
    failures: list = dataclasses.field(default_factory=list)
    done: bool = False  # the file was gone through to its end
    exception: str = ""
    timed_out: bool = False
    running: str = ""  # the test in which the suite's patience ended

    @property
    def clean(self):
        """Whether every test of the file had its turn."""
        return self.done and not self.timed_out and not self.exception and all(f.name for f in self.failures)

    def guilty(self):
        """Tests to leave out so that those behind them get their turn: what hung, and what failed before its block broke."""
        guilty = []
        last_failed = ""
        for failure in self.failures:
            if failure.name:
                last_failed = failure.name
            elif last_failed:
                guilty.append(last_failed)
                last_failed = ""
        if self.running:
            guilty.append(self.running)
        elif last_failed and (self.exception or not self.done):
            guilty.append(last_failed)
        return guilty


def parse(text):
    output = SuiteOutput()
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if line.strip() == _END:
            break
        if match := _PASSED.fullmatch(line):
            output.passed.append(match["name"])
        elif line.startswith("[err]: "):
            body = []
            while position < len(lines) and lines[position].strip() != _END and not _NEW_REPORT.match(lines[position]):
                body.append(lines[position])
                position += 1
            match = _FAILED.fullmatch(line)
            message = body if match else [line.removeprefix("[err]: ")] + body
            output.failures.append(Failure(match["name"] if match else "", "\n".join(message).strip()))
        elif line.startswith("[exception]: "):
            output.exception = "\n".join([line.removeprefix("[exception]: ")] + lines[position : position + 10]).strip()
            break
        elif line.startswith("[TIMEOUT]"):
            output.timed_out = True
        elif _FILE_DONE.match(line):
            output.done = True
        elif output.timed_out and (match := _CLIENT_STATE.fullmatch(line)) and match["state"] == "IN PROGRESS":
            output.running = match["name"]
    return output


def lost(reference, candidate):
    """Names that passed in `reference` and not in `candidate`, as often as they did more: names may repeat in a file."""
    missing = collections.Counter(reference) - collections.Counter(candidate)
    return [name for name in dict.fromkeys(reference) for _ in range(missing[name])]


def read_cannot_pass(text):
    """The list of tests that cannot pass: {section: {name: reason}} of lines `name | reason` below `[section]`.

    Raises ValueError for a line that is neither, a section or name that comes twice, and a test without a reason.
    """
    sections = {}
    section = None
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section = sections.setdefault(line[1:-1], {})
            if section:
                raise ValueError(f"line {number}: section {line} comes twice")
            continue
        name, bar, reason = (part.strip() for part in line.rpartition(" | "))
        if section is None or not bar or not name or not reason:
            raise ValueError(f"line {number}: not `name | reason` below a [section]")
        if name in section:
            raise ValueError(f"line {number}: {name} comes twice")
        section[name] = reason
    return sections
