"""What building the package needs, for the Makefile.

`static` is what pyproject.toml names; `dynamic` is what the build backend then asks for: CMake and Ninja,
only where the machine has none that will do.
"""

import importlib
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    build_system = tomllib.load(file)["build-system"]
if sys.argv[1] == "static":
    requirements = build_system["requires"]
else:
    requirements = importlib.import_module(build_system["build-backend"]).get_requires_for_build_wheel()
print("\n".join(f"'{requirement}'" for requirement in requirements))
