"""What the tab key completes in each shell, with the script that `idgen completion` prints."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from test_cli import COMMANDS, TOOL, Cli

SHELLS = ("bash", "zsh", "fish")


class Completion(Cli):
    def setUp(self):
        super().setUp()
        self.scripts = {shell: self.good("completion", shell).out for shell in SHELLS}
        for shell, text in self.scripts.items():
            (self.dir / f"script.{shell}").write_text(text)

    def options(self, command):
        """From a command's help: {"--format": True}, true for one that takes a value."""
        text = self.good(*command.split(), "--help").out.partition("\nOptions:\n")[2].partition("\n\n")[0]
        out = {}
        for names in re.findall(r"(?m)^  (-\S.*?)(?:  |$)", text):
            for name in re.findall(r"-[-\w]+", names.split(" ")[0] + " " + names):
                out[name] = bool(re.search(r"[^-\s,]\s+\S*[A-Z|]\S*$", names))
        return out

    def choices(self):
        kinds = ("choice", "boolean")
        return {p["name"]: p["range"].split(" | ") for p in self.objects("properties") if p["type"] in kinds}

    def test_an_unknown_shell_is_a_usage_error_that_names_those_there_are(self):
        self.assertIn("'tcsh' is not one of bash, zsh, fish", self.usage("completion", "tcsh"))
        self.usage("completion")
        self.usage("completion", "bash", "zsh")


class Bash(Completion):
    def complete(self, *words):
        """The replies to a tab key at the end of these words, which are split as bash splits them."""
        done = subprocess.run(
            [
                *("bash", "--norc", "-c"),
                'source script.bash; COMP_WORDS=("$@") COMP_CWORD=$(($#-1)); _idgen; printf "%s\\n" "${COMPREPLY[@]}"',
                *("bash", "idgen", *words),
            ],
            capture_output=True,
            text=True,
            cwd=self.dir,
            check=True,
        )
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_each_command_and_subcommand_is_completed(self):
        self.assertEqual(self.complete(""), list(COMMANDS))
        self.assertEqual(self.complete("s"), ["store", "segment", "shard", "standard"])
        for command in COMMANDS:
            if subcommands := self.subcommands(command):
                self.assertEqual(self.complete(command, ""), subcommands)

    def test_each_option_of_each_command_s_help_is_completed(self):
        for command in self.all_commands():
            self.assertEqual(sorted(self.complete(*command.split(), "-")), sorted(self.options(command)), command)

    def test_the_values_of_enumerations_are_completed_after_their_option(self):
        formats = ["decimal", "hex", "crockford", "base58", "base62"]
        self.assertEqual(self.complete("next", "--format", ""), formats)
        self.assertEqual(self.complete("next", "-n", "5", "--format", "b"), ["base58", "base62"])
        self.assertEqual(self.complete("next", "--kind", ""), ["snowflake", "segment", "business", "serial"])
        self.assertEqual(self.complete("segment", "create", "--schema", "c"), ["cosid"])
        self.assertEqual(self.complete("decode", "--layout", "tw"), ["twitter"])
        self.assertEqual(self.complete("layout", "sony"), ["sonyflake"])
        self.assertEqual(self.complete("completion", ""), list(SHELLS))
        self.assertEqual(self.complete("man", "seg"), ["segment"])
        self.assertEqual(self.complete("next", "--tag", ""), [])

    def test_after_set_the_names_of_properties_and_their_values_are_completed(self):
        names = [p["name"] for p in self.objects("properties")]
        self.assertEqual(self.complete("next", "--set", ""), [f"{name}=" for name in names])
        self.assertEqual(self.complete("next", "--set", "on_cl"), ["on_clock_back="])
        for name, values in self.choices().items():
            self.assertEqual(self.complete("doctor", "--set", name, "="), values, name)
            self.assertEqual(self.complete("doctor", "--set", f"{name}="), values, name)

    def test_words_that_bash_parts_at_signs_are_taken_whole(self):
        (self.dir / "ids.db").touch()
        self.assertEqual(self.complete("next", "--format", "=", "he"), ["hex"])
        self.assertEqual(self.complete("next", "--format", "="), self.complete("next", "--format", ""))
        self.assertEqual(self.complete("next", "--set", "=", "kind", "=", "se"), ["segment", "serial"])
        self.assertEqual(self.complete("next", "--store", "sqlite", ":", "ids"), ["ids.db"])
        self.assertEqual(self.complete("next", "--store", "sqlite", ":", "ids.db", "--ki"), ["--kind"])
        self.assertEqual(self.complete("next", "--store", "mysql", ":"), ["//"])
        self.assertEqual(self.complete("next", "--store", "mysql", "://", "app", "@", "db", "--ki"), ["--kind"])

    def test_files_and_folders_are_completed_also_with_spaces(self):
        (self.dir / "my ids.toml").touch()
        (self.dir / "my folder").mkdir()
        self.assertEqual(self.complete("next", "--config", "my i"), ["my", "ids.toml"])
        self.assertEqual(self.complete("man", "--into", "my"), ["my", "folder"])

    def test_the_tab_key_of_a_real_shell_completes(self):
        shell = Shell(["bash", "--norc", "--noprofile", "-i"], self.dir)
        self.addCleanup(shell.close)
        shell.run(f"PATH={Path(TOOL).parent}:$PATH; source <(idgen completion bash)")
        self.assertIn("idgen next --format base62 ", shell.type("idgen ne\t--fo\tbase6\t"))
        self.assertIn("idgen next --set on_clock_back=wait ", shell.type("idgen next --set on_cl\twa\t"))
        self.assertIn("idgen next --store=sqlite:script.bash ", shell.type("idgen next --store=sql\tscript.ba\t"))


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(Completion):
    def setUp(self):
        super().setUp()
        (self.dir / "functions").mkdir()
        (self.dir / "functions" / "_idgen").write_text(self.scripts["zsh"])
        self.shell = Shell(["zsh", "-f", "-i"], self.dir)
        self.addCleanup(self.shell.close)
        self.shell.run("unsetopt zle_bracketed_paste; autoload -U compinit")

    def check(self):
        self.assertIn("idgen segment show ", self.shell.type("idgen seg\tsh\t"))
        self.assertIn("idgen next --format=hex ", self.shell.type("idgen next --form\the\t"))
        self.assertIn("idgen next --kind snowflake ", self.shell.type("idgen next --kind sn\t"))
        self.assertIn("idgen next --set on_clock_back=wait", self.shell.type("idgen next --set on_cl\twa\t"))
        self.assertIn("idgen next --store sqlite:script.zsh", self.shell.type("idgen next --store sql\tscript.z\t"))
        self.assertIn("idgen layout sonyflake ", self.shell.type("idgen layout sony\t"))

    def test_an_installed_script_completes_commands_options_and_values(self):
        self.shell.run("fpath=($PWD/functions $fpath); compinit -D -u")
        self.check()

    def test_a_script_that_is_read_in_does_the_same(self):
        self.shell.run("compinit -D -u; source script.zsh")
        self.check()


@unittest.skipUnless(shutil.which("fish"), "fish is not installed")
class Fish(Completion):
    def complete(self, line):
        done = subprocess.run(
            ["fish", "--no-config", "-c", 'source script.fish; complete -C "$argv[1]"', line],
            capture_output=True,
            text=True,
            cwd=self.dir,
            check=True,
        )
        self.assertEqual(done.stderr, "")
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    def test_each_command_and_option_is_completed(self):
        self.assertEqual(sorted(self.complete("idgen ")), sorted(COMMANDS))
        for command in self.all_commands():
            begin = f"idgen {command}".strip()
            offered = self.complete(begin + " -") + self.complete(begin + " --")
            self.assertEqual({name for name in offered if name[0] == "-"}, set(self.options(command)), command)

    def test_values_properties_and_files_are_completed(self):
        self.assertEqual(self.complete("idgen next --format b"), ["base58", "base62"])
        self.assertEqual(self.complete("idgen next --set on_fo"), ["on_fork=", "on_fork=error", "on_fork=reacquire"])
        self.assertEqual(self.complete("idgen segment create --schema t"), ["tinyid"])
        self.assertEqual(self.complete("idgen doctor --config script.f"), ["script.fish"])
        self.assertEqual(self.complete("idgen layout sony"), ["sonyflake"])


class Shell:
    """A shell on a terminal, for pressing keys."""

    def __init__(self, command, folder):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.environ.update({"TERM": "dumb", "PS1": "", "HISTFILE": "", "INPUTRC": "/dev/null"})
            os.execvp(command[0], command)
        self.number = 0
        self.run("PS1=; PS2=; true")

    def read_until(self, wanted):
        text, end = "", time.monotonic() + 30
        while wanted not in text:
            ready, _, _ = select.select([self.terminal], [], [], end - time.monotonic())
            if not ready:
                raise AssertionError(f"the shell shows {text!r}, which has no {wanted!r}")
            text += os.read(self.terminal, 65536).decode(errors="replace")
        return text

    def run(self, line):
        """Runs a line, and waits until it is done."""
        self.number += 1
        os.write(self.terminal, f"{line}; echo done''-{self.number}\n".encode())
        self.read_until(f"done-{self.number}")

    def type(self, keys):
        """The line after these keys: it is run, with `echo` before it."""
        self.number += 1
        os.write(self.terminal, f' {keys}\x01echo \x05 "[done-"{self.number}]\n'.encode())
        return self.read_until(f"[done-{self.number}]")

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


if __name__ == "__main__":
    unittest.main()
