"""Weights of rows end to end: they change what is learned, and nothing else does."""
from support.harness import main
from support.rated import COLUMNS, RatedScenario, made_rows

PLAIN = {key: value for key, value in COLUMNS.items() if key not in ("weight", "extra")}


def weighing(weight):
    return [[*row[:3], weight, *row[4:]] for row in made_rows(8000)]


class Weights(RatedScenario):
    def train(self, name, columns, rows=None, *options):
        job = self.rated(rows, columns=columns, name=name, order={"batch_size": 256, "epochs": 3},
                         trainer={"evaluate_share": 0.1, "embedding_dim": 8})
        return self.assert_done(job.run("train", "--json", *options))

    def test_weights_change_what_is_learned_and_extra_columns_do_not(self):
        without = self.train("without", PLAIN)
        extra = self.train("extra", {**PLAIN, "extra": ["time", "session"]})
        self.assertNotEqual(extra["order_digest"], without["order_digest"])
        for key in ("loss", "auc", "log_loss"):
            self.assertEqual(extra[key], without[key], key)
        weighted = self.train("weighted", COLUMNS)
        for key in ("loss", "log_loss"):
            self.assertNotEqual(weighted[key], without[key], key)

    def test_rows_that_weigh_1_are_trained_as_rows_without_weights_and_those_of_0_not_at_all(self):
        ones = weighing("1.0")
        without = self.train("without", PLAIN, ones)
        weighted = self.train("ones", {**PLAIN, "weight": "importance"}, ones)
        for key in ("loss", "auc", "log_loss"):
            self.assertEqual(weighted[key], without[key], key)
        nothing = self.train("nothing", COLUMNS, weighing("0"))
        self.assertEqual(nothing["loss"], 0)
        # Evaluations count each row once, whatever it weighs.
        self.assertGreater(nothing["log_loss"], 0)


if __name__ == "__main__":
    main()
