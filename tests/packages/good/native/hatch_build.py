"""Compile the extension; without a compiler, put an empty file in its place, which still marks the wheel."""

import subprocess
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileHook(BuildHookInterface):
    def initialize(self, version, build_data):
        root = Path(self.root)
        name = f"_count{sysconfig.get_config_var('EXT_SUFFIX')}"
        made = Path(self.directory) / name
        made.parent.mkdir(parents=True, exist_ok=True)
        include = sysconfig.get_paths()["include"]
        command = ["cc", "-shared", "-fPIC", f"-I{include}", str(root / "native/_count.c"), "-o", str(made)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            made.write_bytes(b"")
        build_data["force_include"][str(made)] = f"native/{name}"
        build_data["infer_tag"] = True
        build_data["pure_python"] = False
