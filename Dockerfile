# The grader and the lessons for the CPU: docs/operators.md says how to build and use it. No Docker daemon was at hand where
# this was written: its steps were run in a root file system made with debootstrap. A test holds that what is copied and
# installed exists, and builds the package from what is copied.
FROM python:3.11-slim-bookworm

WORKDIR /opt/attention-course
COPY constraints.txt ./
# PyTorch's own build for the CPU; PyPI's brings CUDA. In a layer of its own, which a change of the grader leaves as it is.
RUN pip install --no-cache-dir -c constraints.txt --no-deps --index-url https://download.pytorch.org/whl/cpu torch

COPY pyproject.toml README.md LICENSE ./
COPY grader grader
COPY source source
COPY solutions solutions
COPY notebooks notebooks
COPY assets assets
COPY docs docs
RUN sh grader/sandbox/install-libseccomp.sh && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir -c constraints.txt '.[widgets]'

RUN useradd --create-home --uid 1000 grader
USER grader
WORKDIR /home/grader
# Into the build's log: the tier that the building machine reaches. The machine that grades says its own with `grader doctor`.
RUN grader doctor
ENTRYPOINT ["grader"]
CMD ["doctor"]
