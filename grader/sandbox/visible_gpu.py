"""The parts of an NVIDIA GPU that the sandbox can use: device nodes, driver libraries, environment variables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Folders of the driver's libraries on Kubernetes, NGC images, WSL and NixOS; /usr/lib is visible in every sandbox.
LIBRARY_FOLDERS = tuple(
    "/usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/local/cuda/compat /usr/lib/wsl/lib "
    "/run/opengl-driver/lib".split()
)
DRIVER_LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1")
# Where distributions put the driver: visible in every sandbox with the rest of the folder.
SYSTEM_FOLDERS = ("usr/lib", "usr/lib64", "usr/lib32", "usr/lib/*-linux-gnu", "usr/lib/wsl/lib")
# nvidia0 …, nvidiactl, nvidia-uvm, nvidia-uvm-tools, and the folders nvidia-caps (MIG); dxg is WSL's.
DEVICE_PATTERNS = ("nvidia*", "dxg")
# Variables with which the operator, or Slurm, chooses a GPU.
CHOICE = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")


@dataclass(frozen=True, kw_only=True)
class VisibleGpu:
    """The paths and environment variables for a GPU. A path is visible in the sandbox if it exists."""

    devices: tuple[str, ...]
    libraries: tuple[str, ...]  # folders
    environment: Mapping[str, str]


# Without it torch.cuda.is_available(), which each first step of an optimizer calls, starts CUDA.
COUNT_ONLY = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
# For grading on the CPU: a submission sees no GPU, even on a machine that has one.
NO_GPU = VisibleGpu(devices=(), libraries=(), environment={"CUDA_VISIBLE_DEVICES": "", **COUNT_ONLY})


def driver(root: Path = Path("/")) -> set[str]:
    """Return the real paths of CUDA's driver among the system's libraries.

    A sandbox for grading on the CPU hides these files. Otherwise PyTorch would start the driver when it first counts
    the GPUs. The driver starts a thread, and threads do not exist in a fork.
    """
    found = (file for folder in SYSTEM_FOLDERS for file in root.glob(f"{folder}/libcuda.so*"))
    return {str(file.resolve()) for file in found}


def visible_gpu(root: Path = Path("/"), environment: Mapping[str, str] = os.environ) -> VisibleGpu:
    """Return the GPU's device nodes, driver libraries and environment variables on this machine.

    Args:
        root: the root folder to search; tests pass another folder.
        environment: the operator's environment variables.
    """
    devices = sorted({f"/dev/{path.name}" for pattern in DEVICE_PATTERNS for path in (root / "dev").glob(pattern)})
    searched = [*filter(None, environment.get("LD_LIBRARY_PATH", "").split(":")), *LIBRARY_FOLDERS]
    libraries = [
        folder
        for folder in dict.fromkeys(searched)
        if os.path.isabs(folder) and any((root / folder[1:] / name).exists() for name in DRIVER_LIBRARIES)
    ]
    variables = {name: environment[name] for name in CHOICE if name in environment}
    if libraries:
        variables["LD_LIBRARY_PATH"] = ":".join(libraries)
    # A library may be a link into another folder: CUDA's loader needs both.
    link_targets = [
        "/" + str(file.resolve().parent.relative_to(root.resolve()))
        for folder in libraries
        for name in DRIVER_LIBRARIES
        if (file := root / folder[1:] / name).exists()
    ]
    return VisibleGpu(
        devices=tuple(devices),
        libraries=tuple(dict.fromkeys([*libraries, *link_targets])),
        environment={
            **variables,
            **COUNT_ONLY,
            # No TensorFloat-32, even if a notebook switches it on.
            "NVIDIA_TF32_OVERRIDE": "0",
            # cuBLAS sums in the same order in every run.
            "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        },
    )
