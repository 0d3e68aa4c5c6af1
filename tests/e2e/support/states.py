"""Loader states as earlier versions of the program wrote them."""

COUNTERS = ("epoch", "split", "split_rows", "open_split", "batches", "rows", "bad_rows", "held_out")


def version_1(state):
    """Returns the state in version 1 of the format: nested, without a checksum and without left_out."""
    position = {key: state[key] for key in (*COUNTERS, "digest", "ahead")}
    known = {"version", "fingerprint", "checksum", "left_out", *position}
    return {"version": 1, "fingerprint": state["fingerprint"], "position": position,
            "identity": {key: value for key, value in state.items() if key not in known}}
