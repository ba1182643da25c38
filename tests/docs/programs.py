"""Which subcommands and options rubato's programs have, asked of the programs, and whether a command line uses only those."""

import functools
import json
import re
import shlex
import subprocess

from harness import BUILD, RUBATO

# Words that stand for something the reader puts in: FILE, A, TABLE.csv, …
PLACEHOLDER = re.compile(r"^[A-Z][A-Z0-9_]*(\.\w+)?$|…|^\.\.\.$")
OTHERS = ("rubatod", "rubato-exporter")


@functools.lru_cache(maxsize=None)
def manual():
    """Of each command its options: name to whether it takes a value and which values there are."""
    document = json.loads(subprocess.run([RUBATO, "help", "--json"], capture_output=True, text=True, check=True).stdout)
    found = {
        c["command"]: {n: (o["value"] is not None, o["choices"]) for o in c["options"] for n in o["names"]} for c in document["commands"]
    }
    found["rubato"].update({"--version": (False, []), "--help": (False, []), "-h": (False, [])})
    found["rubato guard"] = {"--backend": (True, [])}  # in the request to an administrator; not for users
    # One is hidden in the manual, but told to those who check it on hardware.
    for program, command in [("rubato calibrate-kernel", [RUBATO, "calibrate-kernel"]), *((p, [BUILD / "bin" / p]) for p in OTHERS)]:
        shown = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
        found[program] = {}
        for line in shown.splitlines():
            match = re.match(r"  (-[\w,-]+)( +[A-Z])?", line)
            for name in match.group(1).split(",") if match else ():
                found[program][name] = (bool(re.match(r" [A-Z]", match.group(2) or "  ")), [])
    return found


@functools.lru_cache(maxsize=None)
def groups():
    """Commands that only have commands of their own."""
    return {name for name in manual() if any(other.startswith(name + " ") for other in manual())}


def all_options():
    return {name for options in manual().values() for name in options}


def split(line):
    """The simple commands of a shell line, as lists of words; a shell's own words are left out."""
    words = shlex.shlex(line.replace("\\(", "(").replace("\\)", ")"), posix=True, punctuation_chars="|&;()<>")
    words.whitespace_split = True
    words.commenters = "#"
    commands, skip = [[]], False
    for word in words:
        if skip:
            skip = False
        elif re.fullmatch(r"[<>]+&?", word):
            skip = True
        elif re.fullmatch(r"[|&;()]+", word):
            commands.append([])
        else:
            commands[-1].append(word)
    return [c for c in commands if c]


def complaints(words):
    """What is wrong with one command of rubato's programs, as sentences; nothing to say about other programs."""
    words = list(words)
    while words and re.match(r"[A-Za-z_]+=", words[0]):
        words.pop(0)
    if words and words[0] in ("sudo", "env", "exec", "time"):
        rest = words[1:]
        while rest and rest[0].startswith("-"):
            rest.pop(0)
        return complaints(rest)
    if "--" in words and (not words[0:1] or program_of(words[0]) is None):
        return complaints(words[words.index("--") + 1 :])
    if not words or program_of(words[0]) is None:
        return []
    name, words = program_of(words[0]), words[1:]
    said = []
    while words and f"{name} {words[0].split('|')[0].strip('[]')}" in manual():
        alternatives = words.pop(0).strip("[]").split("|")
        for other in alternatives[1:]:
            if f"{name} {other}" not in manual():
                said.append(f"'{name}' has no command '{other}'")
        name = f"{name} {alternatives[0]}"
    if name in groups() and words and re.match(r"[a-z]", words[0]):
        return [*said, f"'{name}' has no command '{words[0]}'"]
    return said + wrong_options(name, words)


def wrong_options(name, words):
    options, said = manual()[name], []
    words = [w for w in words if w not in ("[", "]", "|")]
    while words:
        word = words.pop(0).strip("[],")
        if word == "--":
            return said + complaints(words)
        if not re.match(r"--?[A-Za-z]", word):
            continue
        for alternative in word.split("|"):
            option, equals, value = alternative.partition("=")
            if option not in options:
                said.append(f"'{name}' has no option '{option}'")
                continue
            takes, choices = options[option]
            if takes and not equals and words and not words[0].startswith("-"):
                value = words.pop(0).strip("[],")
            for choice in value.split("|") if choices and value else ():
                if choice not in choices and not PLACEHOLDER.search(choice):
                    said.append(f"'{name} {option}' is one of {', '.join(choices)}, not '{choice}'")
    return said


def program_of(word):
    """rubato, rubatod or rubato-exporter, by whatever path; None for any other."""
    name = word.rsplit("/", 1)[-1]
    return name if name == "rubato" or name in OTHERS else None


def complaints_of_line(line):
    return [said for words in split(line) for said in complaints(words)]


def complaints_of_span(code):
    """Of code within a sentence, where | separates what may be said and brackets what may be left out."""
    words = code.replace("[", " ").replace("]", " ").split()
    return complaints(words) if words and program_of(words[0]) else []
