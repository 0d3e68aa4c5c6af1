"""Rows of requests: neighbouring rows share the columns of a request, as impressions share their user's history."""
import random

HEADER = ["click", "age", "position", "user", "history", "seen", "item"]
COLUMNS = {"label": "click", "dense": ["age", "position"], "sparse": ["user", "history", "seen", "item"]}
REPEATED = [["age", "user", "history"], ["seen"]]


def request_rows(requests, most=24, ids=40, seed=1):
    """Lists of (click, age, position, user, history, seen, item): one to `most` rows a request, histories of up to `ids`
    ids, some fields empty; `seen` repeats over other rows than the history."""
    draw = random.Random(seed)
    rows, seen = [], []
    for _ in range(requests):
        user, age = draw.randrange(1 << 40), draw.choice(["", f"{draw.randrange(90)}", "17.5"])
        history = [draw.randrange(50_000) for _ in range(draw.randrange(ids + 1))]
        for position in range(draw.randint(1, most)):
            if draw.random() < 0.1:
                seen = [draw.randrange(1000) for _ in range(draw.randrange(4))]
            rows.append((draw.randrange(2), age, position, user, history, seen, draw.randrange(5000)))
    return rows


def csv_text(rows):
    def field(value):
        return "|".join(map(str, value)) if isinstance(value, list) else str(value)
    return ",".join(HEADER) + "\n" + "".join(",".join(map(field, row)) + "\n" for row in rows)

