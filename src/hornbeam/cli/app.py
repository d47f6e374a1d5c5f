"""The command group: commands imported when asked for, errors turned into one line and an exit code.

A package that is installed beside this one may add commands: it names each under the entry points
`hornbeam.commands`.
"""

from __future__ import annotations

import errno
import importlib
import importlib.metadata
import os
import shlex
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

import hornbeam
from hornbeam.errors import HornbeamError, StorageError, UsageError, one_line

from .options import debug_option, option_of

INTERRUPTED = 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_COMMANDS = (
    "demo",
    "fit",
    "tune",
    "bag",
    "improve",
    "predict",
    "show",
    "maintain",
    "relational",
    "generate",
)
_ADDED = "hornbeam.commands"
_ELSEWHERE = {"reproduce": "hornbeam-experiments"}
"""Commands of packages that need not be installed."""


class LazyGroup(click.Group):
    """A group whose commands live in modules of this package that carry their names, or are added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *_added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            command = importlib.import_module(f"hornbeam.cli.{cmd_name}").command
        elif (point := _added().get(cmd_name)) is not None:
            command = point.load()
        else:
            return None
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name in _ELSEWHERE and name not in known:
            raise UsageError(
                f"{name} is a command of the package {_ELSEWHERE[name]}, which is not installed; "
                "run pip install ./experiments in a clone of Hornbeam"
            )
        if name not in known and not name.startswith("-"):
            ctx.fail(f"there is no command {name!r}; the commands are {', '.join(known)}")
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **_: Any
    ) -> NoReturn:
        """Run and exit; every way out passes `_guarded`, so nothing but --debug shows a traceback."""
        given = list(sys.argv[1:] if args is None else args)
        sys.exit(_guarded(self, given, "--debug" in given))


def _added() -> dict[str, importlib.metadata.EntryPoint]:
    """Commands of other packages, by name."""
    return {point.name: point for point in importlib.metadata.entry_points(group=_ADDED)}


def _guarded(group: click.Group, args: list[str], debug: bool) -> int:
    options: dict[str, str] = {}
    try:
        if sys.stdout is None:
            raise StorageError("cannot write to standard output: it is closed; open it or redirect it")
        with group.make_context("hornbeam", list(args)) as context:
            context.meta["hornbeam.line"] = shlex.join(["hornbeam", *args])
            context.meta["hornbeam.options"] = options
            group.invoke(context)
            sys.stdout.flush()
        return 0
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted; nothing was written", INTERRUPTED)
    except BrokenPipeError:
        # The reader of stdout went away (`| head`); what it took was right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        return _say(_usage_line(error), 2)
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _say(*_line_of(error, options))


def _line_of(error: Exception, options: Mapping[str, str]) -> tuple[str, int]:
    """The line and the exit code; `options` are those that the command itself says parameters come from."""
    if isinstance(error, HornbeamError):
        return error.worded(lambda name: options.get(name) or option_of(name)), error.exit_code
    if isinstance(error, OSError):
        if error.filename is None and error.errno in _FULL:
            return f"cannot write to standard output: {error.strerror}; free some space and try again", 4
        name = f" {error.filename!r}" if error.filename else ""
        return f"cannot use{name}: {error.strerror or error}", 4
    if isinstance(error, MemoryError):
        return "out of memory: use fewer rows or columns, or a machine with more memory", 1
    return f"internal error ({type(error).__name__}: {error}); run again with --debug and report it", 1


def _usage_line(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "hornbeam"
    return f"{error.format_message().rstrip('.')}; see {command} --help"


def _say(message: str, code: int) -> int:
    stream = sys.stderr
    if stream is None:
        return code  # closed: there is nobody to tell
    # A name from a file may hold what the terminal's encoding cannot write.
    encoding = getattr(stream, "encoding", None) or "utf-8"
    line = one_line(" ".join(message.split())).encode(encoding, "backslashreplace").decode(encoding)
    with suppress(OSError):  # a terminal that went away
        print(f"hornbeam: {line}", file=stream, flush=True)
    return code


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failure, 2 usage, 3 data refused, 4 storage, 130 interrupted.",
)
@click.version_option(hornbeam.__version__, prog_name="hornbeam")
@debug_option
def app() -> None:
    """One readable decision tree that you can trust: exact and fast.

    Start with "hornbeam demo", then "hornbeam fit data.csv --target y".
    """
