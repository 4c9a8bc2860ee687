"""Files an outcome in RESULTS.md: one section per bench or part of one, with its command, the day and the machine."""

import datetime
import os
import pathlib
import platform
import re

from bench import outcome

FILE = pathlib.Path(__file__).with_name("RESULTS.md")
_SECTION = re.compile(r"^## make bench NAME=(\S+)\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_TITLE = "# Results\nEach section is the last run of one bench, or of one part of it; its command is its heading.\n"


def write(name: str, found: outcome.Outcome, file: pathlib.Path = FILE) -> None:
    """Replaces its section, keeps all others."""
    text = file.read_text() if file.exists() else _TITLE
    sections = {match[1]: match[0] for match in _SECTION.finditer(text)}
    sections[name] = section(name, found)
    file.write_text(_TITLE + "".join("\n" + sections[key].strip() + "\n" for key in sorted(sections)))


def section(name: str, found: outcome.Outcome) -> str:
    """One section."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    lines = [f"## make bench NAME={name}", f"{day}, {machine()}.", ""]
    for table in found.tables:
        lines += table.lines()
    return "\n".join([*lines, "```", *(bar.line() for bar in found.bars), "```"])


def machine() -> str:
    """The machine in a few words."""
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    info = pathlib.Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.*)", info.read_text()) if info.exists() else []
    cpu = models[0] if models else platform.machine()
    return (
        f"{os.cpu_count()} cores ({cpu}), {memory_gib:.0f} GiB, {platform.system()} {platform.release().split('-')[0]}"
    )
