"""Files as np.save and np.savez write them, with Python's standard library alone."""
import io
import struct
import zipfile


def npy(code, shape, values, fortran=False):
    """The bytes of an array; `code` is one of struct: f, d, i, q, b, B, ?."""
    kind = {"f": "<f4", "d": "<f8", "e": "<f2", "i": "<i4", "q": "<i8", "h": "<i2", "b": "|i1", "B": "|u1", "?": "|b1"}[code]
    head = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code}", *values)


def npz(arrays, compression=zipfile.ZIP_STORED):
    """The bytes of a .npz of {key: bytes of an array}."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for key, array in arrays.items():
            with archive.open(key + ".npy", "w", force_zip64=True) as entry:  # as NumPy does
                entry.write(array)
    return file.getvalue()


def flat(rows):
    return [value for row in rows for value in row]
