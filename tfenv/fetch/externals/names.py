"""Which names a Starlark file takes from outside, so that each can be given a meaning.

Starlark's syntax is close enough to Python's that Python's parser finds names; the meaning of the
file is the interpreter's business alone.
"""

from __future__ import annotations

import ast
import re

import msgspec

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BUILTIN = frozenset(
    (
        *("None", "True", "False", "abs", "all", "any", "bool", "call_stack", "chr", "dict"),
        *("dir", "enumerate", "fail", "filter", "float", "getattr", "hasattr", "hash", "int"),
        *("json", "len", "list", "load", "map", "max", "min", "ord", "partial", "pow", "range"),
        *("repr", "reversed", "set", "sorted", "str", "struct", "sum", "tuple", "type", "zip"),
    )
)


class Names(msgspec.Struct, frozen=True):
    """The names of one file."""

    free: frozenset[str]  # used, and bound nowhere in the file
    outer: frozenset[str]  # used, and not bound at the file's top level
    attributes: dict[str, frozenset[str]]  # of each name: what stands behind its dot


def of(text: str) -> Names:
    """The names of a file; where Python cannot parse it, every word counts as used."""
    attributes: dict[str, set[str]] = {}
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        for name, attribute in re.findall(r"\b([A-Za-z_]\w*)\.([A-Za-z_]\w*)", text):
            attributes.setdefault(name, set()).add(attribute)
        used = set(_WORD.findall(_code(text)))
        bound = top = _bound_by_pattern(text)
    else:
        used, bound, top = set(), set(), set()
        for node in ast.walk(tree):
            _visit(node, used, bound, attributes)
        for statement in tree.body:
            _visit_top(statement, top)
    return Names(
        free=frozenset(used - bound - _BUILTIN),
        outer=frozenset(used - top - _BUILTIN),
        attributes={name: frozenset(found) for name, found in attributes.items()},
    )


def _visit(node: ast.AST, used: set[str], bound: set[str], attributes: dict[str, set[str]]) -> None:
    if isinstance(node, ast.Name):
        (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
    elif isinstance(node, ast.FunctionDef):
        bound.add(node.name)
    elif isinstance(node, ast.arg):
        bound.add(node.arg)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        attributes.setdefault(node.value.id, set()).add(node.attr)
    elif isinstance(node, ast.Call):
        bound.update(_loaded(node))


def _visit_top(statement: ast.stmt, top: set[str]) -> None:
    """What one statement binds at the top level; a function's own names stay inside it."""
    if isinstance(statement, ast.FunctionDef):
        top.add(statement.name)
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            top.add(node.id)
        elif isinstance(node, ast.Call):
            top.update(_loaded(node))


def _loaded(call: ast.Call) -> set[str]:
    """The names that a `load` binds; none for any other call."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "load"):
        return set()
    found = {str(one.value) for one in call.args[1:] if isinstance(one, ast.Constant)}
    return found | {keyword.arg for keyword in call.keywords if keyword.arg}


def _code(text: str) -> str:
    """The text without comments and one-line strings."""
    return re.sub(r"#.*|\"[^\"\n]*\"|'[^'\n]*'", " ", text)


def _bound_by_pattern(text: str) -> set[str]:
    found = set(re.findall(r"^\s*def (\w+)", text, re.MULTILINE))
    found |= set(re.findall(r"^\s*(\w+) *=[^=]", text, re.MULTILINE))
    for arguments in re.findall(r"^load\(([^)]*)\)", text, re.MULTILINE):
        found |= set(re.findall(r"\"(\w+)\"", arguments)) | set(re.findall(r"(\w+) *=", arguments))
    return found


def statements(text: str) -> list[tuple[int, str]]:
    """A WORKSPACE file cut into its statements, each with the number of lines before it.

    So one that fails does not hide the rest. A file that Python cannot parse is one statement.
    """
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return [(0, text)]
    lines = text.splitlines()
    return [
        (node.lineno - 1, "\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n")
        for node in body
    ]
