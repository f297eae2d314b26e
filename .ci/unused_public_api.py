"""Prints the public declarations that no source file of a package uses.

  unused_public_api.py SYMBOL_GRAPHS INDEX_STORE PACKAGE
"""

import json
import pathlib
import re
import sys

graphs, index, package = map(pathlib.Path, sys.argv[1:])

# A unit describes the last compilation of a source file, and names a record. The record contains the
# compiler's identifier of each declaration that the file refers to, as plain text.
used = b""
for source in package.rglob("*.swift"):
    for unit in (index / "units").glob(f"{source.name}.o-*"):
        text = unit.read_bytes()
        # Another package may have a file with the same name.
        if bytes(package.resolve()) not in text:
            continue
        for name in re.findall(rb"%s-[0-9A-Z]+" % re.escape(source.name).encode(), text):
            record = index / "records" / name[-2:].decode() / name.decode()
            if record.exists():
                used += record.read_bytes()

symbols = [s for graph in graphs.glob("*.json") for s in json.loads(graph.read_bytes())["symbols"]]
unused = [s for s in symbols if s["identifier"]["precise"].encode() not in used]
for symbol in unused:
    declaration = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
    print(f"No other package uses {'.'.join(symbol['pathComponents'])}: {declaration}", file=sys.stderr)
print(f"{len(symbols)} public declarations, {len(symbols) - len(unused)} of them used by another package")
sys.exit(1 if unused or not symbols else 0)
