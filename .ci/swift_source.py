"""Reads Swift: the code of a file, and the names that it declares. Checks import it."""

import json
import re
import subprocess
from pathlib import Path

NOT_CODE = re.compile(r'(//.*|^\s*#(?:if|else|endif).*)|(#?)"""[\s\S]*?"""\2|(#?)"(?:\\.|[^"\\\n])*"\3', re.M)
INTERPOLATION = re.compile(r"\\\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
# The compiler only names another declaration.
UNAVAILABLE = re.compile(r"@available\(\s*\*, unavailable[^{]*\{[^}]*\}")
TOKEN = re.compile(
    r"[{}]|\b(class|struct|enum|protocol|actor|typealias|associatedtype)\s+(?!func\b|var\b|let\b)`?([A-Z]\w*)"
    r"|\b(extension)\b|\b(?:func|var|let)\s+`?(\w+)|(?<!\.)\b(?:init|subscript)\b|\bcase\s+(?=[a-z`])([^{}:\n]*)")
PRIVATE = re.compile(r"\b(?:fileprivate|private)\s+(?!\(set\))[^\n]*$")
GENERIC = re.compile(r"\b(?:func|init|subscript|struct|class|enum|protocol|typealias)\b\s*[\w?]*<([^>{]*)>|\b(?:let|var) \(([^()]*)\)")


def code_of(text):
    """Returns a text without comments, directives and texts, but with the code inside texts."""
    code = NOT_CODE.sub(lambda match: "" if match[1] else " ".join(INTERPOLATION.findall(match[0])), text)
    return UNAVAILABLE.sub("", code)


class Declarations:
    """The names that some code declares."""

    def __init__(self, code):
        # The types at the top level, what other files see of their members, and all other names.
        self.types, self.members, self.names = set(), set(), set()
        scopes, scope = [], "code"
        for token in TOKEN.finditer(code):
            kind, type_name, extension, name, cases = token.groups()
            if token[0] == "{":
                scopes.append(scope)
                scope = "code"
                continue
            if token[0] == "}":
                scopes[-1:] = []
                continue
            scope = "type" if kind or extension else "code"
            if extension:
                continue
            line = code[code.rfind("\n", 0, token.start()) + 1:token.start()] + " "
            is_seen = "code" not in scopes and not PRIVATE.search(line)
            if kind and is_seen and not scopes:
                self.types.add(type_name)
                continue
            found = {type_name or name} if kind or name else set(
                re.findall(r"(?:^|,)\s*`?(\w+)", re.sub(r"\([^()]*\)", "", cases or "")))
            self.names |= found
            if is_seen:
                self.members |= found
        # Types that stand for others, and variables in parentheses
        self.names |= {name for pair in GENERIC.findall(code) for name in re.findall(r"(?:^|,)\s*(\w+)", "".join(pair))}


def interfaces():
    """Yields the texts of the toolchain's interface files, which declare what its libraries have."""
    info = json.loads(subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True).stdout)
    target = info["target"]
    for path in sorted((Path(info["paths"]["runtimeResourcePath"]) / target["platform"]).glob(
            f"*.swiftmodule/{target['moduleTriple']}.swiftinterface")):
        yield path.read_text(encoding="utf-8")
