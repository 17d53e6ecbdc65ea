from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import importlib, json, pkgutil, sys
import roamtui.models
names = [module.name for module in pkgutil.walk_packages(roamtui.models.__path__, "roamtui.models.")]
for name in names:
    importlib.import_module(name)
print(json.dumps([names, sorted(sys.modules)]))
"""


def test_no_module_of_models_imports_litellm() -> None:
    result = subprocess.run((sys.executable, "-c", SCRIPT), capture_output=True, text=True, check=False)
    assert not result.returncode, result.stderr
    names, loaded = json.loads(result.stdout)
    assert {"roamtui.models.litellm_model", "roamtui.models.litellm_worker", "roamtui.models.choose"} <= set(names)
    assert not {"litellm", "httpx", "openai", "aiohttp", "textual"} & set(loaded)
