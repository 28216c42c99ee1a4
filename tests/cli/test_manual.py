"""The manual pages that `idgen man` prints, and that the build installs."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from test_cli import TOOL, Cli

REQUESTS = {".TH", ".nh", ".ad", ".SH", ".br", ".TP", ".PP", ".EX", ".EE"}


class Manual(Cli):
    def pages(self):
        """{"segment show": roff} of every command, as `man --into` writes them."""
        folder = self.dir / "man"
        folder.mkdir(exist_ok=True)
        self.assertEqual(self.good("man", "--into", folder).out, "")
        return {path.stem: path.read_text() for path in folder.iterdir()}

    def commands(self):
        """{"idgen-segment-show": ("segment", "show")}"""
        return {"-".join(["idgen", *command.split()]): command.split() for command in self.all_commands()}

    def test_every_command_has_a_page_that_is_printed_as_it_is_written(self):
        pages, commands = self.pages(), self.commands()
        self.assertEqual(set(pages), set(commands))
        for name, words in commands.items():
            self.assertEqual(self.good("man", *words).out, pages[name])

    def test_a_page_has_every_section_and_is_well_formed(self):
        for name, page in self.pages().items():
            with self.subTest(name):
                sections = re.findall(r"(?m)^\.SH (.*)$", page)
                for section in ("NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
                    self.assertIn(section, sections)
                self.assertTrue({"EXAMPLE", "EXAMPLES"} & set(sections))
                self.assertEqual(page.count(".EX\n"), page.count(".EE\n"))
                for line in page.splitlines():
                    if line.startswith((".", "'")) and not line.startswith('.\\"'):
                        self.assertIn(line.split()[0], REQUESTS)
                    self.assertRegex(line, r'^(?:[^\\]|\\(?:[-e&"]|f[BIR]|\(aq|\(ga|\(ha|\(ti))*$')

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_shows_each_page_without_a_warning_and_with_all_that_the_help_says(self):
        commands, pages = self.commands(), self.pages()
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", "-rLL=200n"],
            input="".join(f"{page}\n.PP\nENDOFPAGE\n" for page in pages.values()),
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(done.stderr, "")
        *shown_pages, _ = re.sub(r"[\s`]+", "", done.stdout).split("ENDOFPAGE")
        for name, shown in zip(pages, shown_pages, strict=True):
            with self.subTest(name):
                first, *lines = self.good(*commands[name], "--help").lines
                self.assertIn(re.sub(r"[\s`]+", "", first[1:-1]), shown)  # a phrase there
                for line in lines:
                    said = re.sub(r"^(Usage|Commands|Arguments|Options|Examples?|Exit status)\b.*", "", line)
                    self.assertIn(re.sub(r"[\s`]+", "", said), shown)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_finds_nothing_wrong(self):
        for name, page in self.pages().items():
            done = subprocess.run(
                ["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True, text=True, check=False
            )
            faults = [line for line in done.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(faults, [], name)

    def test_an_unknown_command_is_a_usage_error_that_names_those_there_are(self):
        self.assertIn("it has next, decode, convert, explain", self.usage("man", "nxt"))
        self.assertIn("it has create, show, advance", self.usage("man", "segment", "drop"))
        self.assertIn("idgen next has no command 'x'", self.usage("man", "next", "x"))
        self.usage("man", "next", "--into", self.dir)

    def test_a_folder_that_cannot_be_written_is_an_error_that_names_the_file(self):
        error = self.failed("man", "--into", "none")
        self.assertEqual(error, "idgen: error: cannot write none/idgen.1: No such file or directory\n")

    def test_what_the_build_installs_is_what_the_command_prints(self):
        share = Path(TOOL).resolve().parents[1] / "share"
        self.assertEqual(
            {path.name: path.read_text() for path in (share / "man" / "man1").glob("idgen*.1")},
            {f"{name}.1": page for name, page in self.pages().items()},
        )
        for shell, path in {
            "bash": "bash-completion/completions/idgen",
            "zsh": "zsh/site-functions/_idgen",
            "fish": "fish/vendor_completions.d/idgen.fish",
        }.items():
            self.assertEqual((share / path).read_text(), self.good("completion", shell).out)


if __name__ == "__main__":
    unittest.main()
