"""Compares the public declarations with the file that lists them, or writes that file.

  public_interface.py SYMBOL_GRAPHS LIST [--update]

A line of the list has the module, the place and the declaration, and the protocols that a type conforms to.
"""

import difflib
import json
import pathlib
import sys

# The compiler adds these by itself, which depends on its version.
UNDERSTOOD = {"Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"}

directory, listed = map(pathlib.Path, sys.argv[1:3])


def line(module, symbol, protocols):
    """Returns the line of a declaration."""
    declaration = " ".join("".join(f["spelling"] for f in symbol["declarationFragments"]).split())
    conformances = f" : {', '.join(sorted(protocols))}" if protocols else ""
    return f"{module} {'.'.join(symbol['pathComponents'])} | {declaration}{conformances}"


graphs = [json.loads(path.read_bytes()) for path in directory.glob("*/*.json")]
names = {
    symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"])
    for graph in graphs for symbol in graph["symbols"]
}
lines = []
for graph in graphs:
    protocols = {}
    for relation in graph["relationships"]:
        if relation["kind"] == "conformsTo":
            target = names.get(relation["target"]) or relation["targetFallback"]
            if target not in UNDERSTOOD:
                protocols.setdefault(relation["source"], set()).add(target)
    for symbol in graph["symbols"]:
        # The compiler only names another declaration, on every platform.
        if any(one.get("isUnconditionallyUnavailable") and one.get("domain", "*") == "*"
               for one in symbol.get("availability", [])):
            continue
        lines.append(line(graph["module"]["name"], symbol, protocols.get(symbol["identifier"]["precise"])))

text = "".join(f"{one}\n" for one in sorted(lines))
if "--update" in sys.argv:
    listed.write_text(text)
    sys.exit()
before = listed.read_text().splitlines() if listed.exists() else []
changes = [
    change for change in difflib.unified_diff(before, text.splitlines(), lineterm="", n=0)
    if change[0] in "+-" and change[:3] not in ("+++", "---")
]
if changes:
    print("The public interface has changed:", *changes, sep="\n", file=sys.stderr)
    print(
        "A line that is gone (-) breaks code that uses it. If you want that, list it in CHANGELOG.md as a breaking"
        " change. A new type (+) is also in the topics of its module, and a declaration that needs a trait in the module's"
        " WithoutTrait.swift, with its types and conformances. Then run .ci/check-public-api --update.", file=sys.stderr)
    sys.exit(1)
print(f"{len(lines)} public declarations are as listed in {listed}")
