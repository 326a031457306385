"""Evaluate a WORKSPACE and all that it loads, with rules that record instead of downloading."""

from __future__ import annotations

import functools
import posixpath
import re
import time
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from typing import Any

import msgspec

from tfenv.errors import FileFormatError, MissingExtraError
from tfenv.fetch.externals import names
from tfenv.fetch.externals.tree import Tree

_PRELUDE = "@tfenv//:prelude"
_STUBS = "@tfenv//:stubs"
_LABEL = re.compile(r"(?:@@?(?P<repo>[A-Za-z0-9_.+~-]*))?//(?P<package>[^:]*)(?::(?P<name>.+))?")
_FRAME = re.compile(r"^  \* (.+):(\d+), in (\S+)$", re.MULTILINE)
_SECONDS = 120.0  # for one whole tree
_STACK = 200  # calls inside each other
_MOST = 5000  # declared repositories
_EMPTY_TEXT = '""'
_HIDDEN = ("tfenv/prelude", "tfenv/stubs")


class Call(msgspec.Struct, frozen=True):
    """One repository rule that was called."""

    rule: str
    arguments: dict[str, Any]
    frames: list[tuple[str, int, str]]  # file, line, function: outermost first


class Unread(msgspec.Struct, frozen=True, order=True):
    """A function of a file that is not there: what it would have declared is not known."""

    label: str
    symbol: str


class Evaluation(msgspec.Struct, frozen=True):
    """All that a WORKSPACE chain declares, as far as it can be read."""

    calls: list[Call]
    unread: list[Unread]
    failures: list[str]  # statements or files that could not be evaluated, and why
    files: int  # Starlark files that were evaluated


def evaluate(
    tree: Tree,
    repositories: Mapping[str, Tree] | None = None,
    bazel_version: str = "",
) -> Evaluation:
    """Evaluate a tree.

    Args:
        tree: the main workspace.
        repositories: external repositories whose Starlark is at hand, by name.
        bazel_version: what the files see as Bazel's version.

    Raises:
        MissingExtraError: the Starlark interpreter is not installed.
        FileFormatError: the tree has no WORKSPACE.
    """
    try:
        import starlark  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("build", "starlark") from error
    return _Evaluator(tree, dict(repositories or {}), bazel_version).run()


class _Place(msgspec.Struct, frozen=True):
    """A file of a repository; the main workspace is the repository with an empty name."""

    repo: str
    path: str

    @property
    def label(self) -> str:
        folder, _, name = self.path.rpartition("/")
        return f"@{self.repo}//{folder}:{name}" if self.repo else f"//{folder}:{name}"

    @property
    def shown(self) -> str:
        """How the file is named in a stack: a path for the main workspace."""
        return self.path if not self.repo else self.label


_Loader = tuple[Callable[[str], Any], Callable[[Any], None]]


class _Evaluator:
    def __init__(self, tree: Tree, repositories: dict[str, Tree], bazel_version: str) -> None:
        import starlark

        self.starlark = starlark
        self.tree = tree
        self.repositories = repositories
        self.calls: list[Call] = []
        self.existing: dict[str, dict[str, Any]] = {}
        self.unread: dict[Unread, None] = {}
        self.failures: list[str] = []
        self.modules: dict[_Place, Any] = {}
        self.loading: set[_Place] = set()
        self.main_name = _main_name(tree)
        self.deadline = time.monotonic() + _SECONDS
        library = starlark.LibraryExtension
        parts = ("StructType", "CallStack", "Json", "Map", "Filter", "Partial")
        self.globals = starlark.Globals.extended_by([getattr(library, part) for part in parts])
        self.dialect = starlark.Dialect.extended()
        self.prelude = self._prelude(bazel_version)

    def run(self) -> Evaluation:
        path = next((n for n in ("WORKSPACE", "WORKSPACE.bazel") if self.tree.read(n)), None)
        if path is None:
            raise FileFormatError(
                "the source tree has no WORKSPACE",
                "only trees that list their external archives there can be read",
                "give a source tree of TensorFlow",
            )
        text = self.tree.read(path) or ""
        module = self.starlark.Module()
        place = _Place("", path)
        whole = names.of(text)
        for before, statement in names.statements(text):
            try:
                self._eval(module, place, statement, whole, lines_before=before)
            except self.starlark.StarlarkError as error:
                self.failures.append(f"{path}:{before + 1}: {_reason(error)}")
        return Evaluation(self.calls, sorted(self.unread), self.failures, len(self.modules) + 1)

    # What the files see of Bazel.

    def _prelude(self, bazel_version: str) -> Any:
        module = self.starlark.Module()
        module["_bazel_version"] = bazel_version
        module.add_callable("_record", self._record)
        module.add_callable("_unread", self._note_unread)
        module.add_callable("_existing", lambda: self.existing)
        self._run(module, "tfenv/prelude", _prelude_text(), None)
        return module.freeze()

    def _record(self, rule: str, stack: str, arguments: dict[str, Any]) -> None:
        frames = [(file, int(line), name) for file, line, name in _FRAME.findall(stack)]
        frames = [
            (file, line - (0 if file.startswith("WORKSPACE") else 1), name)
            for file, line, name in frames
            if file not in _HIDDEN
        ]
        if len(self.calls) >= _MOST:
            return
        self.calls.append(Call(rule, arguments, frames))
        name = arguments.get("name")
        if isinstance(name, str):
            self.existing.setdefault(name, {"name": name, "kind": rule})
            self._note_local(name, arguments)

    def _note_local(self, name: str, arguments: dict[str, Any]) -> None:
        """A repository that is a folder of the tree is at hand at once."""
        if any(key in arguments for key in ("url", "urls", "remote", "jar_urls")):
            return
        for key in ("path", "relpath"):
            folder = arguments.get(key)
            if isinstance(folder, str) and folder and not folder.startswith("/"):
                self.repositories.setdefault(name, self.tree.below(posixpath.normpath(folder)))

    def _note_unread(self, label: str, symbol: str) -> None:
        self.unread[Unread(label, symbol)] = None

    # Files and what they load.

    def _eval(
        self,
        module: Any,
        place: _Place,
        text: str,
        known: names.Names,
        lines_before: int | None = None,
    ) -> None:
        """Evaluate a text in a module that knows Bazel's names.

        The names are loaded in a line before the text; for a statement of WORKSPACE in lines that
        its number leaves free, so that stacks name the right line.
        """
        header = self._header(known)
        if lines_before is None:
            source = f"{header}\n{text}"
        else:
            self._run(module, "tfenv/stubs", header, self._loader(place, known))
            source = "\n" * lines_before + text
        self._run(module, place.shown, source, self._loader(place, known))

    def _header(self, known: names.Names) -> str:
        offered = _prelude_names()
        loads = [f'"{name}"' for name in sorted(known.outer & offered)]
        if "Label" in known.outer:
            loads.append('str = "label_str"')
        header = f'load("{_PRELUDE}", {", ".join(loads)})' if loads else ""
        unknown = sorted(known.free - offered)
        if unknown:
            listed = ", ".join(f'"{name}"' for name in unknown)
            header += f'{"; " if header else ""}load("{_STUBS}", {listed})'
        return header

    def _loader(self, place: _Place, known: names.Names) -> _Loader:
        """What `load` does in one file: it sees the label only, so the symbols are noted before."""
        wanted: dict[str, dict[str, str]] = {}

        def load(label: str) -> Any:
            if label == _PRELUDE:
                return self.prelude
            if label == _STUBS:
                return self._unknown(known)
            return self._load(label, place, known, wanted.get(label, {}))

        def remember(ast: Any) -> None:
            for one in ast.loads():
                wanted.setdefault(one.module_id, {}).update(one.symbols)

        return load, remember

    def _run(self, module: Any, name: str, text: str, loader: _Loader | None) -> None:
        ast = self.starlark.parse(name, text, self.dialect)
        file_loader = None
        if loader is not None:
            load, remember = loader
            remember(ast)
            file_loader = self.starlark.FileLoader(load)
        options = self.starlark.EvalOptions(
            check_cancelled=lambda: time.monotonic() > self.deadline, max_callstack_size=_STACK
        )
        self.starlark.eval_with(options, module, ast, self.globals, file_loader=file_loader)

    def _load(self, label: str, place: _Place, known: names.Names, symbols: dict[str, str]) -> Any:
        target = self._resolve(label, place)
        if target is None:
            return self._stubs(label, known, symbols, quiet=False)
        if target.repo == "bazel_tools":
            return self._bazel_tools(known, symbols)
        text = self._text(target)
        if text is None or target in self.loading:
            return self._stubs(target.label, known, symbols, quiet=False)
        if target not in self.modules:
            self.loading.add(target)
            try:
                module = self.starlark.Module()
                self._eval(module, target, text, names.of(text))
                self.modules[target] = module.freeze()
            except self.starlark.StarlarkError as error:
                self.failures.append(f"{target.label}: {_reason(error)}")
                self.modules[target] = None
            finally:
                self.loading.discard(target)
        found = self.modules[target]
        return found or self._stubs(target.label, known, symbols, quiet=False)

    def _resolve(self, label: str, place: _Place) -> _Place | None:
        if label.startswith(":") or "//" not in label:
            if label.startswith("@"):
                name = label.lstrip("@")
                return _Place(name, f"{name}.bzl")
            folder = posixpath.dirname(place.path)
            return _Place(place.repo, posixpath.join(folder, label.removeprefix(":")))
        found = _LABEL.fullmatch(label)
        if found is None:
            return None
        repo = place.repo if found["repo"] is None else found["repo"]
        if repo == self.main_name:
            repo = ""
        package, name = found["package"], found["name"]
        name = name or posixpath.basename(package)
        return _Place(repo, posixpath.normpath(posixpath.join(package, name)))

    def _text(self, place: _Place) -> str | None:
        tree = self.tree if not place.repo else self.repositories.get(place.repo)
        return tree.read(place.path) if tree is not None else None

    # Stand-ins.

    def _bazel_tools(self, known: names.Names, symbols: dict[str, str]) -> Any:
        """Bazel's own files: the rules that the prelude has, and nothing for the others."""
        offered = sorted(set(symbols.values()) & _prelude_names())
        others = {local: name for local, name in symbols.items() if name not in offered}
        loads = ", ".join(f'_{name} = "{name}"' for name in offered)
        return self._module(
            [f'load("{_PRELUDE}", {loads})'] if offered else [],
            [f"{name} = _{name}" for name in offered],
            self._stub_lines("@bazel_tools", known, others, quiet=True),
        )

    def _stubs(
        self, label: str, known: names.Names, symbols: dict[str, str], *, quiet: bool
    ) -> Any:
        return self._module([], [], self._stub_lines(label, known, symbols, quiet=quiet))

    def _unknown(self, known: names.Names) -> Any:
        symbols = {name: name for name in known.free - _prelude_names()}
        return self._module([], [], self._stub_lines("", known, symbols, quiet=True))

    def _stub_lines(
        self, label: str, known: names.Names, symbols: dict[str, str], *, quiet: bool
    ) -> list[str]:
        lines = []
        for local, name in sorted(symbols.items(), key=lambda item: item[1]):
            attributes = sorted(known.attributes.get(local, ()))
            if name.isupper() and not attributes:
                # The two kinds of constants that trees ask of absent files: texts and tables.
                lines.append(f"{name} = {_EMPTY_TEXT if 'VERSION' in name else '{}'}")
            elif attributes:
                parts = ", ".join(
                    f"{one} = {_function(label, f'{name}.{one}', quiet)}" for one in attributes
                )
                lines.append(f"{name} = struct({parts})")
            else:
                lines.append(f"{name} = {_function(label, name, quiet)}")
        return lines

    def _module(self, *parts: Iterable[str]) -> Any:
        module = self.starlark.Module()
        lines = [f'load("{_PRELUDE}", _stub = "stub", _nothing = "nothing")']
        lines += [line for part in parts for line in part]
        loader: _Loader = (lambda _: self.prelude, lambda _: None)
        self._run(module, "tfenv/stubs", "\n".join(lines) + "\n", loader)
        return module.freeze()


def _function(label: str, symbol: str, quiet: bool) -> str:
    if quiet:
        return "_nothing"
    return f"_stub({_quoted(label)}, {_quoted(symbol)})"


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def _reason(error: Exception) -> str:
    lines = str(error).splitlines()
    found = next((line for line in lines if line.startswith("error: ")), "")
    return (found.removeprefix("error: ") or " ".join(lines))[:300]


def _main_name(tree: Tree) -> str:
    found = re.search(
        r"^workspace\(\s*name\s*=\s*[\"']([^\"']+)", tree.read("WORKSPACE") or "", re.MULTILINE
    )
    return found[1] if found else "org_tensorflow"


@functools.cache
def _prelude_text() -> str:
    return resources.files("tfenv.fetch.externals").joinpath("prelude.star").read_text("utf-8")


@functools.cache
def _prelude_names() -> frozenset[str]:
    import ast

    found: set[str] = set()
    for node in ast.parse(_prelude_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(t.id for t in node.targets if isinstance(t, ast.Name))
    return frozenset(name for name in found if not name.startswith("_"))
