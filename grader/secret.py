"""Read or create the course secret, from which the hidden inputs are drawn."""

import os
import secrets
from pathlib import Path

from grader.complaint import Complaint


class SecretError(Complaint):
    """The course secret cannot be read or created. The message names the file and the next step."""


def course_secret(root: Path) -> str:
    """Return the course secret: $GRADER_SECRET, or else the content of the file .grader/secret.

    The same secret gives the same hidden inputs on every machine. `kept_secret` creates the file if it does not exist.

    Raises:
        SecretError: $GRADER_SECRET is empty, or the file is refused by `kept_secret`.
    """
    if (given := os.environ.get("GRADER_SECRET")) is not None:
        if not given.strip():
            raise SecretError("GRADER_SECRET is empty. Put the course secret into it, or unset it.")
        return given
    return kept_secret(root)


def kept_secret(root: Path, name: str = "secret") -> str:
    """Return the content of a file in .grader/. Create the file on first use.

    A new file contains a random text, and only its owner can read it. The course secret is in the file "secret".

    Raises:
        SecretError: the file cannot be read or written, others can read it, or it is empty.
    """
    path = root / ".grader" / name
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(32) + "\n")
        if path.stat().st_mode & 0o077:
            raise SecretError(f"{path} can be read by others. Run: chmod 600 {path}")
        secret = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SecretError(f"{path}: {error}. Make it readable, or set GRADER_SECRET.") from error
    if not secret:
        raise SecretError(f"{path} is empty. Remove it, and a new secret is made; the hidden inputs will change.")
    return secret
