"""The suite's kernels through Python give what the command gives: every output of every kernel, bit by bit."""

from __future__ import annotations

import ast
import operator
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import envisa
import numpy as np
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

SUITE = pathlib.Path(__file__).parents[2] / "suite"
DEVICE = "dg2"
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv}


def evaluate(text: str, sizes: dict[str, int]) -> int:
    """A whole-number expression over a kernel's sizes."""

    def of(node: Any) -> int:
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](of(node.left), of(node.right))
        return sizes[node.id] if isinstance(node, ast.Name) else int(node.value)

    return of(ast.parse(text, mode="eval").body)


def substitute(text: str, sizes: dict[str, int]) -> str:
    """A value's text with its sizes as numbers."""

    def part(text: str) -> str:
        named = any(word in sizes for word in re.split(r"\W", text))
        return str(evaluate(text, sizes)) if named or re.match(r"\d+[*/]", text) else text

    kind, *fields = text.split(":")
    return ":".join([kind, *("".join(part(p) for p in re.split(r"(\.\.|,)", field)) for field in fields)])


class Job:
    """A kernel of the suite with its arguments."""

    def __init__(self, path: pathlib.Path) -> None:
        source = path.read_text()
        self.header = tomllib.loads(source.split("*/")[0].removeprefix("/* envisa"))
        self.sizes: dict[str, int] = self.header.get("sizes", {})
        relative = path.relative_to(SUITE / "kernels")
        self.zebin = (SUITE / "corpus" / DEVICE / relative).with_suffix(".zebin")
        self.outputs = [a["name"] for a in self.header["args"] if "check" in a]

    def three(self, name: str) -> tuple[int, ...]:
        return tuple(n if isinstance(n, int) else evaluate(n, self.sizes) for n in self.header[name])

    def array(self, text: str) -> np.ndarray[Any, Any]:
        return envisa.values(substitute(text, self.sizes))

    def argument(self, a: dict[str, str]) -> Any:
        if "sampler" in a:
            return envisa.Sampler(a["sampler"])
        if "bytes" in a:
            return b"".join(self.array(literal).tobytes() for literal in a["bytes"].split())
        if "image" in a:
            return envisa.Image(self.array(a["value"]), substitute(a["image"], self.sizes))
        text = substitute(a.get("buffer", a.get("value", "")), self.sizes)
        if text.startswith("local:"):
            return envisa.Local(int(text.split(":")[1]))
        is_literal = re.match(r"[iuf]\d", text) and "buffer" not in a
        return envisa.values(text).tobytes() if is_literal else envisa.values(text)

    def by_python(self) -> list[bytes]:
        module = envisa.Module.load(self.zebin, DEVICE)
        kernel = module[self.header.get("kernel") or next(iter(module))]
        given = {a["name"]: self.argument(a) for a in self.header["args"]}
        launcher = kernel[self.three("global"), self.three("local")]
        launcher.launch((), given, offset=tuple(self.header.get("offset", ())))
        memory = [g.texels if isinstance(g, envisa.Image) else g for g in (given[n] for n in self.outputs)]
        return [m.tobytes() for m in memory]

    def by_command(self, folder: pathlib.Path) -> list[bytes]:
        """Arguments are given as files, which the array made here is written to."""
        call = ["envisa", "run", str(self.zebin), "--device", DEVICE, "--color", "never"]
        for name in ("global", "local", "offset"):
            if self.header.get(name):
                call += [f"--{name}", ",".join(map(str, self.three(name)))]
        call += ["--kernel", self.header["kernel"]] if "kernel" in self.header else []
        for a in self.header["args"]:
            value = self.argument(a)
            file = folder / f"{a['name']}.bin"
            if isinstance(value, envisa.Sampler):
                text = f"sampler:{value.description}"
            elif isinstance(value, envisa.Local):
                text = f"local:{value.size}"
            elif isinstance(value, bytes):
                file.write_bytes(value)
                text = f"@{file}"
            else:
                image = f"image:{value.description}=" if isinstance(value, envisa.Image) else ""
                file.write_bytes((value.texels if isinstance(value, envisa.Image) else value).tobytes())
                text = f"{image}@{file}"
            call += ["--arg", f"{a['name']}={text}"]
        outputs = [folder / f"{name}.out" for name in self.outputs]
        call += [word for n, f in zip(self.outputs, outputs) for word in ("--out", f"{n}={f}")]
        done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{' '.join(call)}\n{done.stderr}"
        return [f.read_bytes() for f in outputs]


def test_the_suite_through_python_is_as_by_the_command(tmp_path: pathlib.Path) -> None:
    paths = sorted(p for p in (SUITE / "kernels").rglob("*.cl"))
    jobs = {str(p.relative_to(SUITE)): Job(p) for p in paths}
    here = {name: job for name, job in jobs.items() if job.zebin.exists() and job.outputs}
    folders = [tmp_path / str(i) for i in range(len(here))]
    for folder in folders:
        folder.mkdir()
    differ = []
    with ThreadPoolExecutor(2) as pool:
        by_command = pool.map(lambda pair: pair[0].by_command(pair[1]), zip(here.values(), folders))
        for (name, job), wanted in zip(here.items(), by_command):
            if job.by_python() != wanted:
                differ.append(name)
    assert len(here) > 150, "the suite's kernels were not found"
    assert not differ
