"""`roamtui completion`: scripts that complete commands and flags in bash, zsh and fish, generated from the parsers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandArgument:
    """A flag, or a positional argument."""

    flags: tuple[str, ...]
    """Its spellings, such as ``--json``. Empty for a positional argument."""
    help: str
    metavar: str
    """Name of its value. Empty if it takes no value."""

    @property
    def values(self) -> list[str]:
        """The values to choose from. Empty if any value is allowed."""
        words = self.metavar.strip("{}").replace(",", "|").split("|")
        return words if len(words) > 1 and all(word.islower() for word in words) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletableCommand:
    """A command with its arguments."""

    help: str
    arguments: Sequence[CommandArgument]

    @property
    def flags(self) -> list[str]:
        """All spellings of all flags."""
        return [flag for argument in self.arguments for flag in argument.flags]


def render_completion(shell: str, commands: Mapping[str, CompletableCommand]) -> str:
    """Render the script for a shell. In `commands`, the empty name stands for the app, which has no command name."""
    return {"bash": _render_bash, "zsh": _render_zsh, "fish": _render_fish}[shell](commands)


def _render_bash(commands: Mapping[str, CompletableCommand]) -> str:
    flags = [
        f"{name or '*'}) words={shlex.quote(' '.join(command.flags))} ;;" for name, command in _sort_app_last(commands)
    ]
    values: list[str] = []
    for name, command in _sort_app_last(commands):
        for argument in command.arguments:
            if argument.values:
                pattern = "|".join(f"{name or '*'}' '{word}" for word in argument.flags or (name,))
                values.append(f"{pattern}) words={shlex.quote(' '.join(argument.values))} ;;")
    names = shlex.quote(" ".join(filter(None, commands)))
    return f"""\
# bash completion for roamtui. In ~/.bashrc: eval "$(roamtui completion bash)"
_roamtui() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=''
  COMPREPLY=()
  if [[ $COMP_CWORD -gt 1 ]]; then
    case $command' '$prev in
{indent(chr(10).join(values), " " * 6)}
    esac
  fi
  if [[ -z $words && $cur == -* ]]; then
    case $command in
{indent(chr(10).join(flags), " " * 6)}
    esac
  elif [[ -z $words && $COMP_CWORD -eq 1 ]]; then
    words={names}
  fi
  [[ -z $words ]] || COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o bashdefault -o default -F _roamtui roamtui
"""


def _render_zsh(commands: Mapping[str, CompletableCommand]) -> str:
    names = [shlex.quote(f"{name}:{_shorten(command.help)}") for name, command in commands.items() if name]
    cases = []
    for name, command in _sort_app_last(commands):
        specs = []
        for argument in command.arguments:
            values = f"({' '.join(argument.values)})" if argument.values else "_files"
            if not argument.flags and argument.values:
                specs.append(shlex.quote(f"1:action:{values}"))
            text = re.sub(r"([\[\]:\\])", r"\\\1", _shorten(argument.help))
            value = f":{argument.metavar.replace('|', ' ')}:{values}" if argument.metavar else ""
            specs += [shlex.quote(f"{flag}[{text}]{value}") for flag in argument.flags]
        cases.append(f"{name or '*'}) _arguments {' '.join(specs)} '*:file:_files' ;;")
    return f"""\
#compdef roamtui
# zsh completion for roamtui. In ~/.zshrc, after compinit: eval "$(roamtui completion zsh)"
_roamtui() {{
  local -a commands
  commands=({" ".join(names)})
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe -t commands command commands
    _files
    return
  fi
  local command=$words[2]
  if (( ${{+commands[(r)$command:*]}} )); then
    shift words
    (( CURRENT-- ))
  fi
  case $command in
{indent(chr(10).join(cases), " " * 4)}
  esac
}}
if [ "$funcstack[1]" = _roamtui ]; then _roamtui "$@"; else compdef _roamtui roamtui; fi
"""


def _render_fish(commands: Mapping[str, CompletableCommand]) -> str:
    lines = ["# fish completion for roamtui. In config.fish: roamtui completion fish | source"]
    for name, command in commands.items():
        when = f"__fish_seen_subcommand_from {name}" if name else "__fish_use_subcommand"
        if name:
            lines.append(f"complete -c roamtui -n __fish_use_subcommand -a {name} -d {_quote_fish(command.help)}")
        for argument in command.arguments:
            parts = [f"complete -c roamtui -n {_quote_fish(when)}"]
            parts += [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in argument.flags]
            if argument.values:
                parts.append(f"{'-x ' if argument.flags else ''}-a {_quote_fish(' '.join(argument.values))}")
            elif argument.metavar and argument.flags:
                parts.append("-r")
            if argument.flags or argument.values:
                lines.append(" ".join([*parts, "-d", _quote_fish(argument.help)]))
    return "\n".join(lines) + "\n"


def _quote_fish(text: str) -> str:
    escaped = _shorten(text).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _shorten(text: str) -> str:
    return text.partition(". ")[0].partition("; ")[0].removesuffix(".")


def _sort_app_last(commands: Mapping[str, CompletableCommand]) -> list[tuple[str, CompletableCommand]]:
    # The app's pattern is `*`, which matches every command.
    return sorted(commands.items(), key=lambda item: not item[0])
