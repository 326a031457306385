"""The pages of docs/troubleshooting, one per root cause and language, made from the data.

    python -m tfenv.diagnose.pages docs/troubleshooting

A test holds the committed pages to this module.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tfenv.diagnose.fixes import fill
from tfenv.diagnose.model import Cause, Signature
from tfenv.diagnose.signatures import causes, languages, library, messages
from tfenv.files import write_text

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "looks": "How it looks", "why": "Why", "fix": "What to do", "note": "What the message really says",
        "else": "What else shows the same line", "before": "What it causes further down", "source": "Sources",
        "index": "Troubleshooting", "other": "中文", "decide": "To tell them apart",
        "intro": "One page per root cause. `tfenv explain LOG` finds the one for a log, and names the "
                 "exact versions for a target with `--target T`.",
        "cause": "Root cause", "title": "In a sentence",
    },
    "zh": {
        "looks": "现象", "why": "原因", "fix": "解决办法", "note": "信息的真正含义",
        "else": "还有什么会显示同一行", "before": "它会在后面引起", "source": "来源",
        "index": "故障排查", "other": "English", "decide": "区分的依据",
        "intro": "每个根本原因一页。`tfenv explain LOG` 找出日志对应的那一页，加 `--target T` 会给出该目标的确切版本。",
        "cause": "根本原因", "title": "一句话",
    },
}  # fmt: skip
_CATEGORIES: Mapping[str, str] = {
    "configure": "配置", "fetch": "下载", "compile": "编译", "compile-cuda": "CUDA 编译", "link": "链接",
    "resources": "内存与磁盘", "install": "安装", "python-deps": "Python 依赖", "import": "导入",
    "gpu-visibility": "看不到 GPU", "gpu-runtime": "GPU 运行", "xla": "XLA", "cpp-api": "C++ 接口",
    "tflite": "TensorFlow Lite", "docker": "Docker", "conda": "conda", "windows": "Windows", "macos": "macOS",
}  # fmt: skip


def pages() -> dict[str, str]:
    """File name under docs/troubleshooting to its text, for every language."""
    made: dict[str, str] = {}
    for language in languages():
        folder = "" if language == "en" else f"{language}/"
        table = {name: cause for name, cause in causes(language).items() if name != "none"}
        made[f"{folder}index.md"] = _index(table, language)
        for name, cause in table.items():
            made[f"{folder}{name}.md"] = _page(name, cause, language)
    return made


def _page(name: str, cause: Cause, language: str) -> str:
    words = _WORDS[language]
    signatures = [s for s in library().signature if s.cause == name]
    parts = [
        f"# {cause.title}",
        f"`{name}` · {_category(cause.category, language)} · {_switch(name, language)}",
    ]
    examples = list(dict.fromkeys(s.example.strip() for s in signatures))[:4]
    parts += [f"## {words['looks']}", "```text\n" + "\n".join(examples) + "\n```"]
    parts += [f"## {words['why']}", " ".join(fill([cause.why], {})) or cause.why]
    say = messages(language)
    notes = [say.get(s.note, s.note) for s in signatures if s.note]
    parts += [f"## {words['note']}\n\n{note}" for note in notes[:1]]
    parts += [
        f"## {words['fix']}",
        "\n".join(f"- {_escaped(line)}" for line in fill(cause.fix, {})),
    ]
    parts += _neighbours(signatures, words, say)
    parts += [f"{words['source']}: {cause.source}"]
    return "\n\n".join(parts) + "\n"


def _neighbours(
    signatures: list[Signature], words: Mapping[str, str], say: Mapping[str, str]
) -> list[str]:
    """Causes that are easily confused with this one, and those that only follow from it."""
    doubts = {a.cause: say.get(a.fact, a.fact) for s in signatures for a in s.alternatives}
    after = sorted({cause for s in signatures for cause in s.supersedes})
    parts = []
    if doubts:
        rows = "\n".join(
            f"- [{c}]({c}.md). {words['decide']}: {fact}" for c, fact in doubts.items()
        )
        parts.append(f"## {words['else']}\n\n{rows}")
    if after:
        parts.append(f"## {words['before']}\n\n" + "\n".join(f"- [{c}]({c}.md)" for c in after))
    return parts


def _index(table: Mapping[str, Cause], language: str) -> str:
    words = _WORDS[language]
    parts = [f"# {words['index']}", words["intro"], _switch("index", language)]
    for category in dict.fromkeys(cause.category for cause in table.values()):
        rows = [
            f"| [{name}]({name}.md) | {cause.title} |"
            for name, cause in table.items()
            if cause.category == category
        ]
        head = f"| {words['cause']} | {words['title']} |\n| --- | --- |"
        parts += [f"## {_category(category, language)}", "\n".join([head, *rows])]
    return "\n\n".join(parts) + "\n"


def _category(category: str, language: str) -> str:
    return _CATEGORIES.get(category, category) if language == "zh" else category


def _switch(name: str, language: str) -> str:
    target = f"zh/{name}.md" if language == "en" else f"../{name}.md"
    return f"[{_WORDS[language]['other']}]({target})"


def _escaped(text: str) -> str:
    """Angle brackets and asterisks of commands would be markup."""
    return text.replace("<", "&lt;").replace("*", "\\*")


def main(folder: Path) -> None:
    """Write all pages, and remove those of causes that are gone."""
    made = pages()
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        write_text(folder / name, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
