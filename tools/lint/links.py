#!/usr/bin/env python3
"""Fails where a page names something that is not there: a link's target or heading, a file or folder, a type or function,
or, in a state diagram, an enumerator (kName) of a header; where a comment names a source file that is not there; and
where a folder's README.md leaves out a folder in it.

usage: links.py [PAGE...]    without pages: every tracked one
"""
import os
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([\w.][\w./-]*)`")
CODE = re.compile(r"\.(?:h|cpp|py|sh|in|cmake|txt|json|toml)$|^\.ci/run$")
SOURCE = re.compile(r"\.(?:h|cpp|py|sh|cmake|md|toml|svg)$")
# A type or function: words in mixed case, or joined by underscores.
SYMBOL = re.compile(r"`((?:[A-Z][a-z]\w*|[A-Za-z]\w*_\w*)(?:::\w+)*)(?:\(\))?`")
STYLE = {"snake_case", "PascalCase", "member_"}
COMMENTED_SOURCE = re.compile(r"(?:\w+/)*\w+\.(?:h|cpp)\b")
ENUMERATOR = re.compile(r"\bk[A-Z]\w+")
# Files of this form that a user, a run or a build makes.
MADE = re.compile(r"^(?:build|runs|data|keys|\.forebay|checkpoints)/|^(?:job|model|test|launch)\.\w+$|(?:^|/)x\.\w+$|^\.\w+$")


def tracked():
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True).stdout
    return [path for path in sorted(set(listing.splitlines())) if pathlib.Path(path).is_file()]


def anchors(path):
    """The headings of a page as GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", pathlib.Path(path).read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_link(page, target):
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    path = pathlib.Path(page).parent / path if path else pathlib.Path(page)
    if not path.exists():
        return f"links to {target}, which does not exist"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"links to {target}, a heading that {path} does not have"
    return None


def missing_file(page, name, files, folders):
    """A quoted word is a file's name if it ends like one, or begins with a folder of this tree or of the page's."""
    own = os.path.normpath(pathlib.Path(page).parent / name)
    looks_like_one = SOURCE.search(name) or ("/" in name and name.split("/")[0] in {f.split("/")[0] for f in folders})
    if not looks_like_one or MADE.search(name) or name.startswith("forebay/"):
        return None
    name = name.rstrip("/")
    known = files | folders
    # A page may leave out the first folders, or, of a class in two files, the suffix.
    found = own in known or any(path == name or path.endswith("/" + name) or path.startswith(name + ".")
                                            for path in known)
    return None if found else f"names {name}, which is not in the tree"


def missing_symbols(line, words):
    return [f"names {symbol}, which no source has" for symbol in SYMBOL.findall(line)
            if not set(re.findall(r"\w+", symbol)) <= words | STYLE]


def check(page, files, folders, enumerators, words):
    diagram = inside = False
    for number, line in enumerate(pathlib.Path(page).read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside, diagram = not inside, line.strip() == "```mermaid"
        elif diagram:
            yield from (f"{page}:{number}: has the state {name}, which no header declares"
                        for name in ENUMERATOR.findall(line) if name not in enumerators)
            if ";" in line or line.count(":") > 1:
                yield f"{page}:{number}: mermaid ends a description at ; and :"
        elif not inside:
            found = [broken_link(page, target) for target in LINK.findall(line)]
            found += [missing_file(page, name, files, folders) for name in QUOTED.findall(line)]
            found += missing_symbols(line, words)
            yield from (f"{page}:{number}: {what}" for what in found if what)


def check_comments(path, text, files, folders):
    for number, line in enumerate(text.splitlines(), 1):
        comment = line.partition("//")[2]
        found = [missing_file(path, name, files, folders) for name in COMMENTED_SOURCE.findall(comment)]
        yield from (f"{path}:{number}: {what}" for what in found if what)


def unnamed_folders(page, files):
    """The folders in a page's folder that have a README.md of their own and that the page does not name."""
    text, top = pathlib.Path(page).read_text(), pathlib.Path(page).parent
    for path in sorted(files):
        folder = pathlib.Path(path).parent
        if path.endswith("/README.md") and folder.parent == top and not re.search(rf"\b{folder.name}\b", text):
            yield f"{page}: does not name the folder {folder.name}/"


def main():
    files = set(tracked())
    folders = {str(parent) for path in files for parent in pathlib.Path(path).parents} - {"."}
    sources = {path: pathlib.Path(path).read_text(errors="replace") for path in files if CODE.search(path)}
    enumerators = {name for path, text in sources.items() if path.endswith(".h") for name in ENUMERATOR.findall(text)}
    words = {word for text in sources.values() for word in re.findall(r"\w+", text)}
    pages = sys.argv[1:] or sorted(path for path in files if path.endswith(".md"))
    found = [line for page in pages for line in check(page, files, folders, enumerators, words)]
    found += [line for page in pages if page.endswith("README.md") and page != "README.md"
              for line in unnamed_folders(page, files)]
    if not sys.argv[1:]:
        found += [line for path in sorted(sources) if path.endswith((".h", ".cpp"))
                  for line in check_comments(path, sources[path], files, folders)]
    print("\n".join(found) or "links: ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
