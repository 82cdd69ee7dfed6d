"""Processor time of a process that was started: judged by it, a busy machine changes nothing."""
import os, pathlib

TICK = os.sysconf("SC_CLK_TCK")


def processor(pid):
    """Processor time of a process so far [s]; nothing once it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return (int(fields[11]) + int(fields[12])) / TICK if fields[0] != "Z" else None
