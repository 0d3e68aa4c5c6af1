"""Rows of ratings as CSV, for scenarios about label_threshold, weight and extra."""
import random

from support.cluster import ClusterScenario

HEADER = "session,rating,age,importance,item,time"
COLUMNS = {"label": "rating", "label_threshold": 4.1, "dense": ["age"], "sparse": ["item"],
           "weight": "importance", "extra": ["time", "session"]}


def made_rows(count, seed=1):
    """Rows of text; the item decides the rating, and importance favours one half of the items."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        item = draw.randrange(20)
        likes = draw.random() < (0.9 if item % 2 else 0.3)
        rating = 4.1 + draw.random() if likes else draw.random() * 4
        importance = [0.25, 3][item % 2]
        rows.append([f"s{number // 7}", f"{rating:.3f}", str(draw.randrange(80)), str(importance), str(item),
                     str(1_700_000_000_000 + number)])
    return rows


class RatedScenario(ClusterScenario):
    def rated(self, rows=None, columns=None, name="job", **tables):
        job = self.job(name, dataset={"format": "csv", "paths": ["*.csv"]}, columns=columns or COLUMNS,
                       **{"order": {"batch_size": 512}, **tables})
        rows = made_rows(8000) if rows is None else rows
        half = len(rows) // 2
        for part, lines in enumerate((rows[:half], rows[half:])):
            job.put(f"part_{part}.csv", "\n".join([HEADER, *(",".join(row) for row in lines)]) + "\n")
        return job
