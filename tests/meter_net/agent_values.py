"""What snmpd answers for a part of its tree, by its pass_persist protocol: lines "OID TYPE VALUE" of a file, read anew
at every question. An unknown object is answered NONE."""

import sys


def answer(path, oid):
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                name, kind, value = line.rstrip("\n").split(" ", 2)
                if name == oid:
                    return "%s\n%s\n%s\n" % (name, kind, value)
    except (OSError, ValueError):
        pass
    return "NONE\n"


def main():
    path = sys.argv[1]
    while True:
        word = sys.stdin.readline()
        if not word:
            return
        if word.strip() == "PING":
            sys.stdout.write("PONG\n")
        else:
            oid = sys.stdin.readline().strip()
            sys.stdout.write(answer(path, oid) if word.strip() == "get" else "NONE\n")
        sys.stdout.flush()


main()
