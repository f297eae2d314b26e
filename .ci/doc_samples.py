"""Compiles the samples of the README and the articles.

  doc_samples.py DIRECTORY COMPILER [OPTION ...]
"""

import concurrent.futures, glob, os, re, subprocess, sys

folder, compiler = sys.argv[1], sys.argv[2:]
files = ["README.md"] + sorted(glob.glob("Sources/*/Documentation.docc/*.md"))
imports = ["Foundation", "Keyring", "KeyringEtcd", "KeyringFile", "KeyringMigration", "KeyringTesting", "Testing"]


def samples(path):
    """Yields the number of the first line, the comment in front, and the lines of each sample in a file."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    start, comment = None, ""
    for number, line in enumerate(lines, 1):
        if start is None and line == "```swift":
            start = number + 1
        elif start is not None and line == "```":
            yield start, comment, lines[start - 1 : number - 1]
            start, comment = None, ""
        elif start is None and line:
            comment = line if line.startswith("<!--") else ""


def source(path, first, lines):
    """Returns the sample as a file to compile. Its lines have the same numbers as in the article."""
    own = [line for line in lines if re.match(r"(@\w+ )?import ", line)]
    # A sample that imports our modules has to import all that it uses.
    assumed = [] if any(line.startswith("import Keyring") for line in own) else imports
    head = [f"import {name}" for name in assumed] + ["@testable import SampleDeclarations"] + own
    body = ["" if re.match(r"(@\w+ )?import ", line) else line for line in lines]
    location = [f'#sourceLocation(file: "{path}", line: {first})']
    if "// main.swift" in body or re.search(
        r"^(@Test|@Suite|@main|@Observable|extension |protocol |final class \w+: XCTestCase)", "\n".join(body), re.M
    ):
        return head + location + body
    # A function is asynchronous if its own statements are. The statements in its types don't count.
    effects = "async throws" if any(re.match(r"\S.*\bawait\b", line) for line in body) else "throws"
    return head + [f"func sample() {effects} {{"] + location + body + ["}"]


def problem(path, first, comment, lines):
    """Returns a description of the problem with a sample, or None."""
    place = os.path.join(folder, f"{os.path.basename(path)}-{first}")
    os.mkdir(place)
    name = os.path.join(place, "main.swift" if "// main.swift" in lines else "Sample.swift")
    with open(name, "w", encoding="utf-8") as file:
        file.write("\n".join(source(path, first, lines)) + "\n")
    # Swift checks values that are sent between isolation domains only when it generates code.
    library = [] if name.endswith("main.swift") else ["-parse-as-library"]
    result = subprocess.run(
        compiler + library + ["-module-name", "Sample", "-emit-sil", "-o", os.devnull, name],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    refused = re.match(r"<!-- refused by Swift: (.*) -->", comment)
    if refused is None:
        return result.stdout if result.returncode else None
    if result.returncode == 0:
        return f"{path}:{first}: Swift no longer refuses this sample."
    if not re.search(f"error: .*{re.escape(refused[1])}", result.stdout):
        return f"{path}:{first}: Swift's error doesn't contain “{refused[1]}”:\n{result.stdout}"
    return None


found = [(path, *sample) for path in files for sample in samples(path)]
compiled = [sample for sample in found if not sample[2].startswith("<!-- not compiled: ")]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    problems = [text for text in pool.map(lambda sample: problem(*sample), compiled) if text]
for text in problems:
    print(text, file=sys.stderr)
print(f"{len(compiled)} samples compiled, {len(found) - len(compiled)} left out,"
      f" {len(problems)} with problems")
sys.exit(1 if problems or not compiled else 0)
