"""What the sandbox is shown of an NVIDIA GPU: device nodes, driver libraries, environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Where the driver's libraries lie, beside /usr/lib, which is shown anyway: Kubernetes, NGC images, WSL, NixOS.
PLACES = (
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/local/cuda/compat",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
)
DRIVER = ("libcuda.so.1", "libnvidia-ml.so.1")
# nvidia0 …, nvidiactl, nvidia-uvm, nvidia-uvm-tools, and the folders nvidia-caps (MIG); dxg is WSL's.
NODES = ("nvidia*", "dxg")
CHOICE = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")  # which GPU the operator, or Slurm, has given us


@dataclass(frozen=True, kw_only=True)
class VisibleGpu:
    """Paths and variables; all that exists of them goes into the sandbox."""

    devices: tuple[str, ...]
    libraries: tuple[str, ...]  # folders
    environment: Mapping[str, str]


# Graded on the CPU, a submission finds no GPU, wherever it runs.
NO_GPU = VisibleGpu(devices=(), libraries=(), environment={"CUDA_VISIBLE_DEVICES": ""})


def visible_gpu(root: Path = Path("/"), environment: Mapping[str, str] = os.environ) -> VisibleGpu:
    """What of a GPU is on this machine, for submissions to see.

    Args:
        root: where to look; another one is for tests.
        environment: the operator's.
    """
    devices = sorted({f"/dev/{path.name}" for pattern in NODES for path in (root / "dev").glob(pattern)})
    searched = [*filter(None, environment.get("LD_LIBRARY_PATH", "").split(":")), *PLACES]
    libraries = [
        place
        for place in dict.fromkeys(searched)
        if os.path.isabs(place) and any((root / place[1:] / name).exists() for name in DRIVER)
    ]
    variables = {name: environment[name] for name in CHOICE if name in environment}
    if libraries:
        variables["LD_LIBRARY_PATH"] = ":".join(libraries)
    # A library may be a link into another folder: CUDA's loader needs both.
    homes = [
        "/" + str(file.resolve().parent.relative_to(root.resolve()))
        for place in libraries
        for name in DRIVER
        if (file := root / place[1:] / name).exists()
    ]
    return VisibleGpu(
        devices=tuple(devices),
        libraries=tuple(dict.fromkeys([*libraries, *homes])),
        environment={
            **variables,
            "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # to ask whether there is a GPU must not initialise CUDA
            "NVIDIA_TF32_OVERRIDE": "0",  # float32 is float32, whatever a notebook asks for
            "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # cuBLAS adds up in one order
        },
    )
