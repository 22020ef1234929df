"""Recounts a release about persons from its files and from the microdata, with nothing but the standard library.

usage: persons_recount.py TABLE.csv[.gz] PERSON RELEASE < promises.json > counts.json

RELEASE is a folder of CSV tables by `generalize`. Standard input is a JSON object: `k`, `l` (by sensitive column, against
whoever cannot count a person's rows) and `distinct_l` (by sensitive column). Standard output is a JSON object:
`groups`, `persons` and `rows` of the release, and how many groups, or groups and values, break what is promised; `persons`
and `rows` of the table; `lost` persons whose rows fit no group together, and `crowded` groups that say they have more
persons than fit them.
"""

import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path


def read(path: Path) -> list[dict]:
    opened = gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="")
    with opened as file:
        return list(csv.DictReader(file))


def main() -> int:
    table, person, folder = sys.argv[1:]
    promises = json.load(sys.stdin)
    release = json.loads((Path(folder) / "release.json").read_text())
    quasi = [it for it in release["attributes"] if it["role"] == "quasi"]
    shown = read(Path(folder) / "generalized.csv")
    persons = {row["group_id"]: int(row["persons"]) for row in read(Path(folder) / "groups.csv")}
    stands_for = defaultdict(set)
    for row in read(Path(folder) / "members.csv"):
        stands_for[row["attribute"], row["label"]].add(row["value"])

    # What every group shows.
    values = defaultdict(lambda: defaultdict(Counter))
    boxes = {}
    for row in shown:
        group = row["group_id"]
        for column in promises["l"].keys() | promises["distinct_l"].keys():
            values[column][group][row[column]] += 1
        box = tuple((row.get(it["name"]), row.get(it["name"] + "_min"), row.get(it["name"] + "_max")) for it in quasi)
        assert boxes.setdefault(group, box) == box, f"group {group} shows several boxes"

    few = [group for group, n in persons.items() if n < promises["k"]]
    frequent = [
        (column, group, value)
        for column, most in promises["l"].items()
        for group, counts in values[column].items()
        for value, count in counts.items()
        if count * most > persons[group]
    ]
    uniform = [
        (column, group)
        for column, least in promises["distinct_l"].items()
        for group, counts in values[column].items()
        if len(counts.keys() - {""}) < least or persons[group] < least
    ]

    # Which persons fit which groups with all of their rows.
    rank = {it["name"]: {value: at for at, value in enumerate(it["domain"]["values"])} for it in quasi}

    def fits(attribute: dict, cell: tuple, value: str) -> bool:
        name = attribute["name"]
        label, low, high = cell
        if label is not None:
            return value in stands_for[name, label]
        places = rank[name]
        if value == "":
            return low == ""
        return (low == "" or places[low] <= places[value]) and high != "" and places[value] <= places[high]

    rows = read(Path(table))
    own = defaultdict(set)
    for row in rows:
        own[row[person]].add(tuple(row[it["name"]] for it in quasi))
    alike = Counter(frozenset(of_person) for of_person in own.values())
    room = Counter()
    lost = 0
    for of_person, n in alike.items():
        fitting = [
            group
            for group, box in boxes.items()
            if all(fits(it, cell, value) for row in of_person for it, cell, value in zip(quasi, box, row))
        ]
        lost += 0 if fitting else n
        for group in fitting:
            room[group] += n
    crowded = [group for group, n in persons.items() if n > room[group]]
    json.dump(
        {
            "release": {"groups": len(persons), "persons": sum(persons.values()), "rows": len(shown)},
            "table": {"persons": len(own), "rows": len(rows)},
            "broken": {"k": len(few), "l": len(frequent), "distinct_l": len(uniform)},
            "lost": lost,
            "crowded": len(crowded),
        },
        sys.stdout,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
