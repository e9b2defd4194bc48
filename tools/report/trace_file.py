# SPDX-License-Identifier: GPL-2.0
"""Reading trace files (Documentation/trace-format.md).

What comes out is checked: tables have the columns that pictures need, of the
right kind, with sides, lanes, descriptors and cycles that can be.
"""

import json
import os
import reprlib

import jsonschema

SIDES = ("src", "dst")
CAUSES = ("backpressure", "throttle", "ids")

# Columns of each table that are used, and what their values must be.
TABLES = {
    "requests": ("descriptor", "side", "lane", "id", "op", "element",
                 "address", "issue", "response"),
    "stalls": ("descriptor", "side", "cause", "cycle", "cycles"),
    "commits": ("descriptor", "side", "cycle", "elements"),
    "sync": ("descriptor", "side", "cycle", "elements"),
}
NUMBERS = ("element", "address", "issue", "cycle", "cycles", "elements")


class TraceError(Exception):
    """A file is no trace; the text says where and why."""


class Table:
    """A table of a trace by columns: table["lane"] is a list."""

    def __init__(self, columns):
        self.columns = columns

    def __getitem__(self, name):
        return self.columns[name]

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def rows(self, *names):
        """Tuples of the columns that are named."""
        return zip(*(self.columns[name] for name in names))


class Trace:
    """A trace, checked. Members are those of the file; tables are Table."""

    def __init__(self, document):
        self.title = document.get("title", "")
        self.machine = document["machine"]
        self.memory = document.get("memory", [])
        self.descriptors = document["descriptors"]
        self.dropped = number(document.get("dropped", 0))
        self.tables = {name: read_table(document, name) for name in TABLES}

    def __getitem__(self, name):
        return self.tables[name]

    def start(self):
        """First cycle of the run."""
        return min(number(d["start"]) for d in self.descriptors)

    def end(self):
        """Cycle after the last one in which anything happens."""
        ends = [number(d["end"]) for d in self.descriptors]
        ends += [cycle for cycle in self["requests"]["response"] if cycle]
        return max(ends) + 1


def number(value):
    """Numbers are integers, or strings if they are large."""
    return int(value)


def is_number(value):
    """Is it what number() takes, and not negative?"""
    if isinstance(value, str):
        return value.isascii() and value.isdigit() and len(value) <= 20
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def check_value(name, value, document):
    """What is wrong with a value of column @name, or ""."""
    choices = {"side": SIDES, "cause": CAUSES}.get(name)
    limits = {"lane": document["machine"]["lanes"],
              "id": document["machine"]["request_ids"],
              "descriptor": len(document["descriptors"])}
    wrong = ""
    if choices:
        if value not in choices:
            wrong = "not one of " + ", ".join(choices)
    elif name in limits:
        if not is_number(value) or number(value) >= limits[name]:
            wrong = "not a number below %d" % limits[name]
    elif name == "response":
        if value is not None and not is_number(value):
            wrong = "neither a cycle nor null"
    elif name in NUMBERS:
        if not is_number(value):
            wrong = "not a number"
    elif not isinstance(value, str):
        wrong = "not a string"
    return wrong


def read_table(document, name):
    """Table @name of the document; an empty one if it is not there."""
    table = document.get(name, {"columns": TABLES[name], "rows": []})
    missing = [c for c in TABLES[name] if c not in table["columns"]]
    if missing:
        raise TraceError("%s.columns: %s is missing" % (name, missing[0]))
    for i, row in enumerate(table["rows"]):
        if not isinstance(row, list):
            raise TraceError("%s.rows[%d]: no list" % (name, i))
        if len(row) != len(table["columns"]):
            raise TraceError("%s.rows[%d]: %d values for %d columns" %
                             (name, i, len(row), len(table["columns"])))
    return Table({column: read_column(document, name, column)
                  for column in TABLES[name]})


def read_column(document, name, column):
    """The values of a column, checked and converted."""
    table = document[name] if name in document else {"columns": TABLES[name],
                                                     "rows": []}
    place = table["columns"].index(column)
    values = [row[place] for row in table["rows"]]
    known = set()
    for i, value in enumerate(values):
        key = (type(value), value) if isinstance(value, (str, int)) else None
        if key in known:
            continue
        wrong = check_value(column, value, document)
        if wrong:
            raise TraceError("%s.rows[%d].%s: %s is %s" %
                             (name, i, column, reprlib.repr(value), wrong))
        if isinstance(value, str):
            known.add(key)
    if column in NUMBERS or column == "response":
        return [None if value is None else number(value) for value in values]
    return values


def path_of(error):
    """Where in the document, as descriptors[0].steps."""
    text = ""
    for part in error.absolute_path:
        text += "[%d]" % part if isinstance(part, int) else "." + part
    return text.lstrip(".") or "top level"


def check_schema(document):
    """Raise TraceError unless the document has the form of a trace."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "trace.schema.json"),
              encoding="utf-8") as schema:
        validator = jsonschema.Draft7Validator(json.load(schema))
    for error in validator.iter_errors(document):
        raise TraceError("%s: %s" % (path_of(error), shorten(error.message)))


def shorten(text, most=200):
    """Messages of a validator quote what they do not like, however long."""
    return text if len(text) <= most else text[:most] + " ..."


def check_times(trace):
    """Nothing ends before it begins."""
    for i, descriptor in enumerate(trace.descriptors):
        if number(descriptor["end"]) < number(descriptor["start"]):
            raise TraceError("descriptors[%d].end: before its start" % i)
    for i, (issue, response) in enumerate(
            trace["requests"].rows("issue", "response")):
        if response is not None and response < issue:
            raise TraceError("requests.rows[%d].response: before its issue" % i)


def refuse_constant(name):
    """NaN and its like are no JSON."""
    raise ValueError("%s is no JSON" % name)


def parse(text):
    """A Trace from the text of a file."""
    try:
        document = json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise TraceError("line %d, column %d: %s" % (
            error.lineno, error.colno, error.msg)) from None
    except (ValueError, RecursionError) as error:
        raise TraceError(shorten(str(error))) from None
    check_schema(document)
    trace = Trace(document)
    check_times(trace)
    return trace


def load(path):
    """A Trace from a file; TraceError with its name if it is none."""
    try:
        with open(path, encoding="utf-8") as source:
            return parse(source.read())
    except OSError as error:
        raise TraceError("%s: %s" % (path, error.strerror)) from None
    except UnicodeDecodeError as error:
        raise TraceError("%s: byte %d is not UTF-8" %
                         (path, error.start)) from None
    except TraceError as error:
        raise TraceError("%s: %s" % (path, error)) from None
