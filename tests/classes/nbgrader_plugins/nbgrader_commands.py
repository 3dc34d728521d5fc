"""Several nbgrader commands in one process, each as its own command line would run it.

Reads [[folder, [argument, …]], …] as JSON from standard input and stops at the first that fails.
"""

import json
import os
import sys
from pathlib import Path

from jupyter_client.channels import AsyncZMQSocketChannel
from nbgrader.apps.nbgraderapp import NbGraderApp

sys.path.append(str(Path(__file__).parents[3]))
from tests.asking import ask

AsyncZMQSocketChannel.get_msg = ask
for folder, arguments in json.load(sys.stdin):
    os.chdir(folder)
    print(f"\n$ nbgrader {' '.join(arguments)}", flush=True)
    NbGraderApp.clear_instance()
    try:
        NbGraderApp.launch_instance(arguments)
    except SystemExit as stop:
        if stop.code:
            raise
