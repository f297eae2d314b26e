"""Writes each Swift sample of the README, llms.txt and the articles into a directory of its own, and compiles it.

  doc_samples.py [--without-traits] DIRECTORY COMPILER [OPTION ...]

With --without-traits, it compiles the samples that need a trait with modules that were built without it: each error
must name the trait.
"""

import concurrent.futures, glob, os, re, subprocess, sys

# Every article is for a program that imports Keyring. The articles show all other imports.
ASSUMED = ["import Foundation", "import Keyring"]
IMPORT = re.compile(r"(@\w+ )?import ")
DECLARATION = re.compile(
    r"(?:@\S+ )*(?:(?:final|indirect|private|public) )*"
    r"(?:actor|class|enum|func|let|protocol|struct|typealias|var) (\w+)")
# Later samples can't use a variable, or a constant whose value throws or waits. Swift refuses both at the top
# level of a file.
LOCAL = re.compile(r"(?:@\S+ )*(?:var |let [^=]*=.*\b(?:try|await)\b)", re.DOTALL)
# The name of a member or of an argument doesn't refer to a declaration of the article.
NAME = re.compile(r"(?<![.\w])\w+\b(?!:)")
FILE = re.compile(
    r"^(@Test|@Suite|@main|@Observable|extension |protocol |final class \w+: XCTestCase)", re.MULTILINE)


# What needs a trait that isn't a default one
NEEDS_TRAIT = re.compile(r"\b(?:EncryptedFileStorage|EtcdStorage|KeySource|SecureStorageProvider)\b|automatic\(\s*key:")
TRAIT = "Turn on swift-keyring's trait in Package.swift"
# A clause that names a code, and no clause after it
LAST_CODE = re.compile(r"^( *)\} catch [\w.]*\.\w.*\{\n(?:(?!\1\}).*\n)*\1\}(?! catch)", re.MULTILINE)


class Sample:
    def __init__(self, path, first, comment, lines, earlier):
        self.path, self.first, self.comment, self.lines = path, first, comment, lines
        # The samples of the same article that this one can use
        self.earlier = list(earlier)
        refused = re.match(r"<!-- refused by Swift: (.*) -->", comment)
        self.refusal = refused[1] if refused else None
        self.is_compiled = not comment.startswith("<!-- not compiled: ")
        # The declarations that later samples can use, and all names that the sample declares
        self.declarations, self.names = {}, set()
        for offset, piece in pieces(lines):
            if match := DECLARATION.match(piece[0]):
                self.names.add(match[1])
                if not LOCAL.match("\n".join(piece)):
                    self.declarations[match[1]] = (self, first + offset, piece)

    @property
    def imports(self):
        """The imports of the sample. If it imports our modules, it has to import all that it uses."""
        own = imports(self.lines)
        if any(line.startswith("import Keyring") for line in own):
            return own
        return ASSUMED + [line for sample in self.earlier for line in imports(sample.lines)] + own

    def used(self):
        """Returns the declarations of earlier samples that this one uses, and those that they use in turn.

        If several samples declare a name, the nearest one before its use counts.
        """
        found = {}
        searched = [(self.lines, self.earlier, self.names)]
        for lines, samples, hidden in searched:  # which grows
            for name in NAME.findall("\n".join(lines)):
                if name in hidden or name in found:
                    continue
                for index, sample in reversed(list(enumerate(samples))):
                    if name in sample.declarations:
                        found[name] = sample.declarations[name]
                        searched.append((found[name][2], samples[: index + 1], set()))
                        break
        return list(found.values())

    @property
    def is_main(self):
        return "// main.swift" in self.lines

    def source(self):
        """Returns the sample as a file to compile. Its lines have the same numbers as in the article."""
        used = self.used()
        imports = [line for sample, _, _ in used for line in sample.imports] + self.imports
        head = list(dict.fromkeys(imports))
        for sample, number, piece in used:
            head += [location(sample.path, number), *piece]
        body = [location(self.path, self.first)]
        body += ["" if IMPORT.match(line) else line for line in self.lines]
        if self.is_main or FILE.search("\n".join(self.lines)):
            return head + body
        # A function is asynchronous if its own statements are. The statements in its types don't count.
        effects = "async throws" if any(re.match(r"\S.*\bawait\b", line) for line in body) else "throws"
        return head + [f"func sample() {effects} {{"] + body + ["}"]


def imports(lines):
    """Returns the imports of a sample. The article itself declares what a test uses of the reader's own module."""
    return [line for line in lines if IMPORT.match(line) and not line.startswith("@testable ")]


def pieces(lines):
    """Yields the offset and the lines of each declaration and statement at the top level of a sample."""
    # A line that continues a piece is indented, or begins with a bracket. An attribute must be in the line of its
    # declaration.
    starts = [offset for offset, line in enumerate(lines) if re.match(r"[\w@#]", line)]
    for start, end in zip(starts, starts[1:] + [len(lines)]):
        yield start, lines[start:end]


def location(path, number):
    return f'#sourceLocation(file: "{path}", line: {number})'


def samples(path):
    """Returns the samples of a file. A comment in front of a sample belongs to it."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, earlier, start, comment = [], [], None, ""
    for number, line in enumerate(lines, 1):
        if start is None and line == "```swift":
            start = number + 1
        elif start is not None and line == "```":
            sample = Sample(path, start, comment, lines[start - 1 : number - 1], earlier)
            found.append(sample)
            if sample.is_compiled and sample.refusal is None:
                earlier.append(sample)
            start, comment = None, ""
        elif start is None and line:
            comment = line if line.startswith("<!--") else ""
    return found


def problem(sample, directory, compiler):
    """Returns a description of the problem with a sample, or None."""
    place = os.path.join(directory, f"{os.path.basename(sample.path)}-{sample.first}")
    os.mkdir(place)
    name = os.path.join(place, "main.swift" if sample.is_main else "Sample.swift")
    with open(name, "w", encoding="utf-8") as file:
        file.write("\n".join(sample.source()) + "\n")
    # Swift checks values that are sent between isolation domains only when it generates code.
    library = [] if sample.is_main else ["-parse-as-library"]
    result = subprocess.run(
        compiler + library + ["-module-name", "Sample", "-emit-sil", "-o", os.devnull, name],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if sample.refusal is None:
        return result.stdout if result.returncode else None
    if result.returncode == 0:
        return f"{sample.path}:{sample.first}: Swift no longer refuses this sample."
    errors = re.findall(r"^\S.* error: .*", result.stdout, re.MULTILINE)
    expected = [error for error in errors if sample.refusal in error]
    if not expected or sample.refusal == TRAIT and expected != errors:
        return (f"{sample.path}:{sample.first}: Swift's error doesn't contain “{sample.refusal}”:"
                f"\n{result.stdout}")
    return None


def crashes(path):
    """Yields what crashes the compiler, or the program, in a file with Swift."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^ */// ?", "", file.read(), flags=re.MULTILINE)
    for match in LAST_CODE.finditer(text):
        line = text[: match.start()].count("\n") + 1
        yield f"{path}:{line}: Swift 6.3 may crash, because no plain catch follows the clause with a code."
    if path == "README.md" and re.search("^(?:let .* = )?try ", text, re.MULTILINE):
        yield f"{path}: In main.swift, an error of this statement ends the program as after a crash."


def main():
    arguments = sys.argv[1:]
    has_traits = arguments[0] != "--without-traits"
    directory, *compiler = arguments if has_traits else arguments[1:]
    files = ["README.md", "llms.txt"] + sorted(glob.glob("Sources/*/Documentation.docc/*.md"))
    found = [sample for path in files for sample in samples(path)]
    compiled = [sample for sample in found if sample.is_compiled]
    if not has_traits:
        compiled = [sample for sample in compiled if NEEDS_TRAIT.search("\n".join(sample.source()))]
        for sample in compiled:
            sample.refusal = TRAIT
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda sample: problem(sample, directory, compiler), compiled)
        problems = [text for text in results if text]
    swift = glob.glob("Sources/**/*.swift", recursive=True) + glob.glob("Examples/**/*.swift", recursive=True)
    problems += [text for path in files + swift for text in crashes(path)]
    for text in problems:
        print(text, file=sys.stderr)
    print(f"{len(compiled)} samples compiled, {len(found) - len(compiled)} left out, {len(problems)} with problems")
    sys.exit(1 if problems or not compiled else 0)


main()
