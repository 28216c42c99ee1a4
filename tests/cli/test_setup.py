"""scripts/setup where something is missing: it ends in one line that says what to do, and has built nothing."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="idgen-setup-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.tools = self.folder / "tools"
        self.tools.mkdir()

    def copy_to(self, name):
        root = self.folder / name
        for part in ("scripts", "bindings/go"):
            shutil.copytree(ROOT / part, root / part)
        for part in ("core", "capi/include"):
            (root / part).mkdir(parents=True)
        return root

    def path_without(self, *names):
        """A PATH with every tool of this machine except those that are named."""
        for folder in os.environ["PATH"].split(":"):
            if "build/venv" in folder or not os.path.isdir(folder):
                continue
            for tool in Path(folder).iterdir():
                if tool.name not in names and not (self.tools / tool.name).is_symlink():
                    (self.tools / tool.name).symlink_to(tool)
        return str(self.tools)

    def run_setup(self, purpose, root, **environment):
        words, env = ["scripts/setup", purpose], os.environ | environment
        return subprocess.run(words, cwd=root, env=env, capture_output=True, text=True, check=False)

    def fails(self, root, **environment):
        """Runs it, and returns its last line."""
        run = self.run_setup("demo", root, **environment)
        self.assertNotEqual(run.returncode, 0, run.stdout)
        self.assertRegex(run.stderr, r"\Anot ok - .*\n\Z")  # one line
        return run.stderr

    def test_a_path_with_a_space(self):
        self.assertRegex(self.fails(self.copy_to("two words")), "has a space in it .*Move it, and run this again")

    def test_a_missing_compiler_where_there_is_no_apt(self):
        path = self.path_without("g++", "apt-get")
        self.assertRegex(self.fails(self.copy_to("a"), PATH=path), r"no apt-get here to install them with: .*g\+\+")

    def test_a_missing_compiler_and_nobody_who_may_install_it(self):
        path = self.path_without("g++", "sudo", "id")
        (self.tools / "id").write_text("#!/bin/sh\necho 1000\n")
        (self.tools / "id").chmod(0o755)
        self.assertRegex(self.fails(self.copy_to("a"), PATH=path), r"missing: .*g\+\+.*Install them as root")

    def test_no_network(self):
        root = self.copy_to("a")
        # Made already, by the Python that setup finds, for that takes seconds; its pip is ours, and installs elsewhere.
        venv = root / "build" / "venv"
        (venv / "bin").mkdir(parents=True)
        (venv / "made-from").write_text(f"{sys.version} {sys.base_prefix}".replace("\n", "") + "\n")
        (venv / "bin" / "pip").write_text(f'#!/bin/sh\nexec {sys.executable} -m pip "$@"\n')
        (venv / "bin" / "pip").chmod(0o755)
        nowhere = {
            "PIP_TARGET": str(self.folder / "target"),
            "PIP_INDEX_URL": "http://127.0.0.1:9/",
            "PIP_RETRIES": "0",
            "PIP_NO_CACHE_DIR": "1",
        }
        line = self.fails(root, PIP_CONFIG_FILE=os.devnull, PIP_FIND_LINKS="", **nowhere)
        self.assertIn("pip could not install them into build/venv. Is there a network? Then run this again", line)

    def test_an_unknown_purpose_is_answered_with_the_known_ones(self):
        run = self.run_setup("everything", ROOT)
        self.assertEqual(run.returncode, 1)
        self.assertIn("'everything'; there are: demo, build, servers", run.stderr)


if __name__ == "__main__":
    unittest.main()
