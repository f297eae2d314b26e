"""Copies the catalogues of all modules for DocC, and turns links between files into DocC's links.

  article_links.py DIRECTORY

The articles link to each other as files, such as [Handling errors](HandlingErrors.md), so that the links also work
where the repository is hosted. The script fails if a link leads to no file, or to no heading of it. A link to a file
that isn't an article becomes its text, because the site has no such file.
"""

import pathlib
import re
import shutil
import sys

ARTICLES = "Documentation.docc"
# A link in code isn't one, but the text of a link may have code.
CODE_OR_LINK = re.compile(
    r"^```.*?^```|``[^`\n]+``|`[^`\n]+`|(!?)\[([^\]]*)\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)", re.M | re.S
)
# The pages that only GitHub shows, and their links
PAGES = "*.md", "llms.txt", ".ci/*.md", "Decisions/*.md", "Tests/*.md", "Benchmarks/*.md", "Examples/*.md"
PAGE_LINK = re.compile(r"(?:\]\(|^\[[^\]]+\]: *|src(?:set)?=\")(?!http|#)([^)#\s\"]+)", re.M)
HEADING = re.compile(r"^#+ +(.*)$", re.M)


def anchor(heading):
    """Returns the name that a git host gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def docc_link(link, article, problems):
    """Returns DocC's form of a link between files, and code as it is."""
    is_picture, text, file, part = link.groups()
    if text is None:
        return link[0]
    if is_picture:
        # DocC finds a picture by its name.
        return f"![{text}]({pathlib.Path(file).name.replace('@2x', '')})"
    target = (article.parent / file).resolve() if file else article
    if not target.exists():
        problems.append(f"{article} links to {file}, which doesn't exist.")
        return text
    if target.parent.name != ARTICLES or target.suffix != ".md":
        return text
    module = target.parent.parent.name
    path = f"/{module}" if target.stem == module else f"/{module}/{target.stem}"
    if part:
        headings = {anchor(heading): heading for heading in HEADING.findall(target.read_text(encoding="utf-8"))}
        if part not in headings:
            problems.append(f"{article} links to {file}#{part}, which isn't a heading.")
            return text
        path += "#" + re.sub(r"[^\w\-.,]+", "-", re.sub(r"['’\"`]", "", headings[part])).strip("-")
    return f"[{text}](doc:{path})"


def main():
    output = pathlib.Path(sys.argv[1])
    pages = [page for pattern in PAGES for page in sorted(pathlib.Path().glob(pattern))]
    problems = [
        f"{page} links to {link}, which doesn't exist."
        for page in pages for link in PAGE_LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()]
    for catalogue in sorted(pathlib.Path("Sources").resolve().glob("*/" + ARTICLES)):
        copy = output / catalogue.parent.name / ARTICLES
        shutil.copytree(catalogue, copy)
        for article in copy.glob("*.md"):
            original = catalogue / article.name
            text = article.read_text(encoding="utf-8")
            text = CODE_OR_LINK.sub(lambda match: docc_link(match, original, problems), text)
            article.write_text(text, encoding="utf-8")
    if problems:
        sys.exit("\n".join(problems))


main()
