"""The course as a package among others, in an environment of its own: no tier lets a submission read it.

A checkout lies outside of what a submission sees. An installed package lies in the middle of it.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from as_user import USER, run_as
from environments import with_wheel

# Each raises nothing if it gets at the course.
ATTEMPTS = {
    "import a function": "from attention.dot_product import attention_scores",
    "import the grader": "import grader.secret",
    "import by name": "import importlib; importlib.import_module('attention.masks')",
    "ask pkgutil": "import pkgutil; assert pkgutil.get_data('attention', 'masks.py')",
    "ask importlib.resources": "import importlib.resources as r; assert r.files('attention').joinpath('masks.py').read_text()",
    "load a file of it": """
import importlib.util
spec = importlib.util.spec_from_file_location('mine', SITE + '/attention/masks.py')
spec.loader.exec_module(importlib.util.module_from_spec(spec))""",
    "run a file of it": "import runpy; runpy.run_path(SITE + '/attention/masks.py')",
    "run it by a magic": "get_ipython().run_line_magic('run', SITE + '/attention/masks.py'); 1 / ('causal_mask' in globals())",
    "another Python": """
import subprocess, sys
subprocess.run([sys.executable, '-c', 'import attention.masks'], check=True)""",
    "a program": "import subprocess; subprocess.run(['cat', SITE + '/attention/masks.py'], check=True)",
    "what Python compiled": """
import glob
open(glob.glob(SITE + '/attention/__pycache__/masks*')[0], 'rb').read()""",
    "a solution": "import glob; open(glob.glob(SITE + '/grader/shipped/solutions/*.py')[0]).read()",
    "the declarations": "import glob; open(glob.glob(SITE + '/grader/course/*/*.py')[0]).read()",
    "what was installed": "import glob; open(glob.glob(SITE + '/attention_course*/RECORD')[0]).read()",
    "a link to it": """
import os, sys
os.symlink(SITE + '/attention', 'mine'); sys.path.insert(0, os.getcwd())
import mine.masks""",
    "a hard link to it": "import os; os.link(SITE + '/attention/masks.py', 'mine.py'); open('mine.py').read()",
    "a folder that was opened": """
import os
folder = os.open(SITE + '/attention', os.O_PATH)
open(os.open('masks.py', os.O_RDONLY, dir_fd=folder)).read()""",
    "its path in /proc": "open('/proc/self/root' + SITE + '/attention/masks.py').read()",
    "a walk over all that Python sees": """
import os, sys
for place in {*sys.path, sys.prefix, sys.base_prefix}:
    for folder, _, names in os.walk(place or '.'):
        if 'dot_product.py' in names:
            open(folder + '/dot_product.py').read()
            break
    else:
        continue
    break
else:
    1 / 0""",
}
# What a submission needs of the same folder works all the same.
WORKS = "import torch, numpy, matplotlib.pyplot, sklearn.metrics, ipywidgets, tqdm, IPython, os; os.listdir(SITE)"
# How a way is closed: what is in these lists of errors is not a mistake of the attempt.
CLOSED = """
ModuleNotFoundError ImportError PermissionError FileNotFoundError OSError IndexError CalledProcessError ZeroDivisionError
AssertionError Exception
""".split()

SCRIPT = """
import json, os, sys, sysconfig
from grader.sandbox.server import Server
from grader.sandbox.tiers import tier_problem
from grader.records import Limits
tier, attempts = sys.argv[1], json.loads(open(sys.argv[2]).read())
if reason := tier_problem(tier):
    print(json.dumps({"skip": reason})); sys.exit()
site = sysconfig.get_path("purelib")
import attention, grader
told = {"uid": os.getuid(), "installed": [module.__file__.startswith(site) for module in (attention, grader)]}
with Server(isolation=tier) as server:
    for name, source in attempts.items():
        python = server.spawn(Limits(), seed=0)
        result = python.run_cell(f"SITE = {site!r}\\n{source}", seconds=60)
        told[name] = [result.status, result.error, result.message]
        python.kill()
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    return with_wheel(tmp_path_factory.mktemp("installed"), wheel)


@pytest.mark.fast_cases("partial-ordinary user")
@pytest.mark.parametrize("user", [0, USER], ids=["root", "ordinary user"])
@pytest.mark.parametrize("tier", ["full", "partial"])
def test_no_submission_reads_the_installed_course(tier: str, user: int, environment: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    (tmp_path / "attempts.json").write_text(json.dumps({**ATTEMPTS, "works": WORKS}))
    told = run_as(
        user,
        tmp_path,
        tmp_path / "script.py",
        tier,
        str(tmp_path / "attempts.json"),
        python=environment / "bin" / "python",
    )
    assert told.pop("installed") == [True, True]
    assert (told.pop("uid") == 0) == (user == 0)
    assert told.pop("works")[0] == "ok"
    assert {name: how for name, how in told.items() if how[0] != "raised" or how[1] not in CLOSED} == {}
