"""The first program in the sandbox: builds the sandbox's root, drops privileges, and becomes the fork server.

It is started as `python boot.py <fd>`. The trusted side sends one frame with the configuration, which
sandbox_description.py creates. No student code ever runs in this process.
"""

import json
import os
import socket
import sys

if __name__ == "__main__":  # run as a script: make `guest`, and nothing else of the grader, importable
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from guest import frames, linux

HOME = "/home/student"
SCRATCH_DIRECTORIES = ("/tmp", "/dev/shm", HOME)


def main() -> None:
    """Build the sandbox's root according to the configuration, drop privileges, and become server.py."""
    control = socket.socket(fileno=int(sys.argv[1]))
    header, _ = frames.receive(control, most_header=1 << 20, most_body=0)
    config = json.loads(header)
    try:
        if config["tier"] == "full":
            _enter_namespaces(config)
            _build_root(config)
        _become_unprivileged(config)
        if config["tier"] == "full":
            linux.die_with_parent()  # only now, because the kernel forgets this when the user changes
    except OSError as error:
        frames.send(control, json.dumps({"error": str(error)}).encode())
        sys.exit(1)
    os.environ.clear()
    os.environ.update(config["environment"])
    os.set_inheritable(control.fileno(), True)
    arguments = [config["python"], "-P", "-s", f"{config['guest']}/server.py", str(control.fileno())]
    os.execv(config["python"], arguments)


def _enter_namespaces(config: dict) -> None:
    """Enter new namespaces and fork. Return only in the child, which has the process id 1 in them.

    The parent, outside the namespaces, waits for the child and exits with the child's status.
    """
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        linux.unshare(linux.CLONE_ALL_BUT_USER)
    else:
        linux.unshare(linux.CLONE_NAMESPACES)
        linux.map_user((uid, gid), (uid, gid))
    child = os.fork()
    if child:
        control = int(sys.argv[1])
        os.close(control)  # so that the trusted side notices when the child ends
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _build_root(config: dict) -> None:
    """Build a new root that shows the files that Python needs, read-only, and hides the rest of this machine."""
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    # First make a tmpfs on /tmp the root: it contains the new root at /new, which is built next, and the
    # machine's own root at /old, until the new root is complete.
    linux.mount("tmpfs", "/tmp", "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    os.mkdir("/tmp/new")
    os.mkdir("/tmp/old")
    linux.pivot_root("/tmp", "/tmp/old")
    os.chdir("/")
    linux.mount("tmpfs", "/new", "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    for path, source in config["binds"].items():
        _show_if_present(source, path)
    _show_if_present(config["guest_source"], config["guest"])
    for path in config["masks"]:
        _mask(path)
    for path, target in config["links"].items():
        os.makedirs(os.path.dirname("/new" + path), exist_ok=True)
        os.symlink(target, "/new" + path)
    for path, text in config["files"].items():
        os.makedirs(os.path.dirname("/new" + path), exist_ok=True)
        with open("/new" + path, "w") as file:
            file.write(text)
    _build_devices(config["devices"])
    os.makedirs("/new/proc", exist_ok=True)
    for path in SCRATCH_DIRECTORIES:
        os.makedirs("/new" + path, exist_ok=True)
    linux.mount("proc", "/new/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    # The fork server's own scratch; each child mounts its own scratch over this.
    for path in ("/dev/shm", HOME):
        linux.mount("tmpfs", "/new" + path, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=64m,mode=777")
    os.chdir("/new")
    linux.pivot_root(".", ".")
    linux.unmount(".")
    os.chdir(HOME)
    linux.protect("/", linux.MS_RDONLY | linux.MS_NOSUID, below=False)


def _show_if_present(source: str, target: str, *, device: bool = False) -> None:
    """Make a folder or file of the machine visible in the new root, if it exists.

    It is read-only, except that a device can be written.
    """
    source, target = "/old" + source, "/new" + target
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif os.path.exists(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        open(target, "a").close()
    else:
        return
    linux.bind(source, target, read_only=not device, devices=device)


def _mask(path: str) -> None:
    """Hide a folder or file that is visible because its parent is. Mount an empty folder, or /dev/null, over it."""
    target = "/new" + path
    if os.path.isdir(target):
        linux.mount("tmpfs", target, "tmpfs", linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    elif os.path.exists(target):
        linux.bind("/old/dev/null", target, devices=True)


def _build_devices(devices: list[str]) -> None:
    """Make the device nodes visible in the new root. Each sandbox later mounts the devpts with its own terminals."""
    os.makedirs("/new/dev/pts", exist_ok=True)
    for path in devices:
        _show_if_present(path, path, device=True)
    os.symlink("pts/ptmx", "/new/dev/ptmx")
    os.symlink("/proc/self/fd", "/new/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/new/dev/{name}")


def _become_unprivileged(config: dict) -> None:
    """If this process runs as root, become the unprivileged user for good.

    The fork server keeps only the right to change its user, because each of its children becomes a separate user
    (confinement.py). Except in tier none, also prevent this process from gaining privileges by a later exec.
    """
    linux.allow_many_descriptors()
    if os.getuid() == 0:
        os.setgroups([])
        linux.become(config["uid"], config["gid"], keep=(linux.CAP_SETGID, linux.CAP_SETUID))
        if not os.access(config["python"], os.X_OK):
            raise PermissionError(13, f"user {config['uid']} cannot reach {config['python']}")
    if config["tier"] != "none":
        linux.forbid_new_privileges()


if __name__ == "__main__":
    main()
