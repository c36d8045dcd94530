"""The task of the agents: a function written, its test run, the function mended. The model behind it is coding-model.ts."""

import os
import subprocess
import tempfile
import uuid
from pathlib import Path

BASE_URL = os.environ["WEIR_URL"]
API_KEY = os.environ["WEIR_KEY"]
POOR_KEY = os.environ["WEIR_POOR_KEY"]
LIMITED_KEY = os.environ["WEIR_LIMITED_KEY"]
MODEL = os.environ["WEIR_MODEL"]
GREETING = "Say hello."
GREETED = "Hello from the model."
DONE = "The test passes."
THOUGHT = "A function needs a test."


def broken_greeting() -> str:
    """A greeting whose first stream the provider breaks off."""
    return f"Say hello, and break once: {uuid.uuid4()}"


class Workplace:
    """The folder of an agent's task. It is removed when the loop ends."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="weir-agent-")
        self.folder = self._folder.name
        self.task = f"Write a shell function that adds two numbers, run its test and mend it, in the folder {self.folder}."
        self.again = f"Run the test once more, in the folder {self.folder}."

    def check(self) -> None:
        assert "$1 + $2" in Path(self.folder, "sum.sh").read_text()
        assert run_command(f"cd {self.folder} && sh test.sh") == "passed\n"


def write_file(file_path: str, content: str) -> str:
    Path(file_path).write_text(content)
    return f"Wrote {file_path}"


def edit_file(file_path: str, old_string: str, new_string: str) -> str:
    path = Path(file_path)
    path.write_text(path.read_text().replace(old_string, new_string, 1))
    return f"Edited {file_path}"


def run_command(command: str) -> str:
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    output = ended.stdout + ended.stderr
    return output if ended.returncode == 0 else f"Exit code {ended.returncode}\n{output}"


TOOLS = {
    "Write": (write_file, ["file_path", "content"]),
    "Edit": (edit_file, ["file_path", "old_string", "new_string"]),
    "Bash": (run_command, ["command"]),
}


def schema_of(name: str) -> dict:
    fields = TOOLS[name][1]
    properties = {field: {"type": "string"} for field in fields}
    return {"type": "object", "properties": properties, "required": fields, "additionalProperties": False}


def run_tool(name: str, arguments: dict) -> str:
    return TOOLS[name][0](**arguments)


def fails(status: int, call) -> None:
    """Checks that a call fails with a status."""
    try:
        call()
    except Exception as error:
        assert getattr(error, "status_code", None) == status, repr(error)
        return
    raise AssertionError(f"the call is to fail with {status}")
