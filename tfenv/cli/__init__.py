"""The command line: wiring only. A command's module is imported when the command is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from tfenv import __version__
from tfenv.errors import StoppedError, TfenvError, UsageError, one_line

# name -> (module, one line of help); the help of the group needs no import
COMMANDS: dict[str, tuple[str, str]] = {
    "list": ("list", "The catalogue: targets, and the toolchain of each in a line."),
    "show": ("show", "A target's toolchain with reasons and sources, and its downloads."),
    "why": ("why", "One value of a toolchain: its rule, and what was refused."),
    "generate": ("generate", "Write pinned environments: Nix, conda, Docker, and more."),
    "lock": ("lock", "Resolve what a lock pins again, and show the difference."),
    "fetch": ("fetch", "Download and verify all that a build needs."),
    "build": ("build", "Build a target from source inside an environment."),
    "verify": ("verify", "Verify a wheel: environment, suite, report."),
    "inspect": ("inspect", "Say what a wheel is and where it runs."),
    "audit": ("audit", "Say whether two wheels or folders are the same, and if not, why."),
    "attest": ("attest", "Write an SBOM and a provenance for a wheel, or verify them."),
    "check-release": ("check_release", "The gate for CI: a wheel against a policy."),
    "explain": ("explain", "Find the root cause of a failed build or import."),
    "doctor": ("doctor", "Say what stands between this machine and a target."),
    "export-ci": ("export_ci", "Write the matrix of CI jobs for many targets."),
    "facts": ("facts", "Check or update the tables that tfenv knows from."),
}


class LazyGroup(click.Group):
    """A group whose commands are modules that are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click names it
        """Commands in the order of the work, not of the alphabet."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        import importlib

        module = importlib.import_module(f"tfenv.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest one."""
        name = args[0]
        if name not in COMMANDS:
            import difflib

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean `tfenv {near[0]}`?" if near else "see `tfenv --help`"
            raise UsageError(f"there is no command '{name[:40]}'", "it is not in the list", hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The commands' help, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tfenv")
def group() -> None:
    """TensorFlow toolchains that work, repeatably.

    A target is <version>-<cpu|cuda>[-<platform>][-<product>]: 2.6.5-cuda, 1.15.5-cpu-macos-cc.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every failure ends here, with its three lines and its exit code."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]  # `list` is a command here
    try:
        code = group.main(given, prog_name="tfenv", standalone_mode=False)
    except TfenvError as error:
        sys.exit(_report(error, given))
    except click.UsageError as error:
        context = error.ctx.command_path if error.ctx else "tfenv"
        sys.exit(
            _report(
                UsageError(error.format_message(), "the command line is off", f"{context} --help"),
                given,
            )
        )
    except click.ClickException as error:
        sys.exit(_report(UsageError(error.format_message(), "see above", "tfenv --help"), given))
    except (KeyboardInterrupt, click.Abort):
        stopped = StoppedError("stopped", "the user interrupted it", "the same command resumes it")
        sys.exit(_report(stopped, given))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _report(error: TfenvError, arguments: Sequence[str]) -> int:
    if "--json" in arguments:
        import msgspec

        click.echo(msgspec.json.encode({"error": error.as_dict()}).decode())
    else:
        lines = [one_line(line) if not line.startswith(" ") else line for line in error.lines()]
        click.echo("\n".join(lines), err=True)
    return error.exit_code
