"""Hidden ids, slowly: the reference for hidden.tsv, and so for modules/cipher.

Written from the standards alone, with Python's integers and lists of digits: FIPS 197 (AES), RFC 8439 (ChaCha20), RFC
5869 (HKDF), SP 800-38G (FF1, any radix). It shares nothing with the module, which has AES from the processor or from
libcrypto, and FF1 for radix 2 alone. Run by itself it checks the standards' own samples.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Callable
from pathlib import Path

KEYS_FILE = Path(__file__).resolve().parent / "hidden.keys"

# ------------------------------------------------------------------------------------------------- AES, ChaCha20


def times(a: int, b: int) -> int:
    """The product in AES's field of 2^8 elements."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a & 0x100:
            a ^= 0x11B
        b >>= 1
    return product


def s_box() -> list[int]:
    box = []
    for byte in range(256):
        inverse = next((x for x in range(256) if times(byte, x) == 1), 0)
        out = 0x63
        for shift in range(5):
            out ^= (inverse << shift | inverse >> (8 - shift)) & 0xFF
        box.append(out)
    return box


S_BOX = s_box()


def round_keys(key: bytes) -> list[list[int]]:
    words = [list(key[i : i + 4]) for i in range(0, 16, 4)]
    constant = 1
    for i in range(4, 44):
        word = list(words[i - 1])
        if i % 4 == 0:
            word = [S_BOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = times(constant, 2)
        words.append([a ^ b for a, b in zip(words[i - 4], word, strict=True)])
    return [[byte for word in words[i : i + 4] for byte in word] for i in range(0, 44, 4)]


def aes(key: bytes) -> Callable[[bytes], bytes]:
    assert len(key) == 16
    keys = round_keys(key)

    def encrypt(block: bytes) -> bytes:
        state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
        for number in range(1, 11):
            state = [S_BOX[byte] for byte in state]
            state = [state[(i + 4 * (i % 4)) % 16] for i in range(16)]  # the rows move left by 0 to 3 columns
            if number < 10:
                mixed = []
                for column in range(0, 16, 4):
                    a, b, c, d = state[column : column + 4]
                    for w, x, y, z in ((a, b, c, d), (b, c, d, a), (c, d, a, b), (d, a, b, c)):
                        mixed.append(times(w, 2) ^ times(x, 3) ^ y ^ z)
                state = mixed
            state = [a ^ b for a, b in zip(state, keys[number], strict=True)]
        return bytes(state)

    return encrypt


def chacha20_block(key: bytes) -> bytes:
    """The first block of the keystream, with counter and nonce 0."""

    def turned(x: int, by: int) -> int:
        return (x << by | x >> (32 - by)) & 0xFFFFFFFF

    words = [int.from_bytes(b"expand 32-byte k"[i : i + 4], "little") for i in range(0, 16, 4)]
    words += [int.from_bytes(key[i : i + 4], "little") for i in range(0, 32, 4)] + [0, 0, 0, 0]
    state = list(words)

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for p, q, r, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[p] = (state[p] + state[q]) & 0xFFFFFFFF
            state[r] = turned(state[r] ^ state[p], by)

    for _ in range(10):
        for column in range(4):
            quarter(column, 4 + column, 8 + column, 12 + column)
        for column in range(4):
            quarter(column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
    return b"".join(((a + b) & 0xFFFFFFFF).to_bytes(4, "little") for a, b in zip(state, words, strict=True))


# ------------------------------------------------------------------------------------------- FF1, SP 800-38G


def number_of(digits: list[int], radix: int) -> int:
    number = 0
    for digit in digits:
        number = number * radix + digit
    return number


def digits_of(number: int, radix: int, count: int) -> list[int]:
    digits = []
    for _ in range(count):
        number, digit = divmod(number, radix)
        digits.insert(0, digit)
    assert number == 0
    return digits


def ff1(key: bytes, tweak: bytes, digits: list[int], radix: int, reveals: bool = False) -> list[int]:
    """Algorithms 7 and 8, step by step."""
    encrypt = aes(key)
    n, t = len(digits), len(tweak)
    u = n // 2
    v = n - u
    a, b = digits[:u], digits[u:]
    half_bytes = ((radix**v - 1).bit_length() + 7) // 8
    d = 4 * ((half_bytes + 3) // 4) + 4
    p = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256]) + n.to_bytes(4, "big") + t.to_bytes(4, "big")
    for i in range(9, -1, -1) if reveals else range(10):
        known = a if reveals else b
        q = tweak + bytes((-t - half_bytes - 1) % 16) + bytes([i]) + number_of(known, radix).to_bytes(half_bytes, "big")
        chained = bytes(16)
        for at in range(0, len(p + q), 16):
            chained = encrypt(bytes(x ^ y for x, y in zip(chained, (p + q)[at : at + 16], strict=True)))
        s, j = chained, 1
        while len(s) < d:
            s += encrypt((int.from_bytes(chained, "big") ^ j).to_bytes(16, "big"))
            j += 1
        y = int.from_bytes(s[:d], "big")
        m = u if i % 2 == 0 else v
        if reveals:
            c = (number_of(b, radix) - y) % radix**m
            a, b = digits_of(c, radix, m), a
        else:
            c = (number_of(a, radix) + y) % radix**m
            a, b = b, digits_of(c, radix, m)
    return a + b


# The samples of NIST for FF1 with AES-128: tweak, plain text, radix, result.
NIST_KEY = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3C")
NIST_SAMPLES = [
    ("", "0123456789", 10, "2433477484"),
    ("39383736353433323130", "0123456789", 10, "6124200773"),
    ("3737373770717273373737", "0123456789abcdefghi", 36, "a9tv40mll9kdu509eum"),
]
# The same key, for radix 2: computed once by two other programs, and by modules/cipher. Tweak, bits, number, result.
RADIX_2_SAMPLES = [
    ("0001020304050607", 42, 0x0, 0x1ECE1D1E7EB),
    ("0001020304050607", 42, 0x1, 0x19C10ADAF2F),
    ("0001020304050607", 42, 0x123456789A, 0x390281A241B),
    ("0001020304050607", 48, 0x0, 0x12306DD40616),
    ("0001020304050607", 48, 0x1, 0x4F442389FA2F),
    ("0001020304050607", 48, 0x123456789A, 0x7988D708B410),
    ("0001020304050607", 63, 0x0, 0x511A91BF678D6EB0),
    ("0001020304050607", 63, 0x1, 0x61196A41BAC7E4E9),
    ("0001020304050607", 63, 0x123456789A, 0x75083D28DE776229),
    ("0001020304050607", 84, 0x0, 0xAC0B9CCBC286A50E8B1B0),
    ("0001020304050607", 84, 0x1, 0xF3052C3B3004746517B13),
    ("0001020304050607", 84, 0x123456789A, 0xDEED03D8E4423CD1D2233),
]


def ff1_bits(key: bytes, tweak: bytes, number: int, bits: int, reveals: bool = False) -> int:
    return number_of(ff1(key, tweak, digits_of(number, 2, bits), 2, reveals), 2)


def check_samples() -> int:
    """Raises AssertionError if a sample of a standard comes out wrong; returns how many there were."""
    fips_197 = aes(bytes(range(16)))(bytes.fromhex("00112233445566778899aabbccddeeff"))
    assert fips_197.hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    assert (
        chacha20_block(bytes(32)).hex().startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    )
    rfc_5869 = hkdf(bytes.fromhex("0b" * 22), bytes(range(13)), bytes(range(0xF0, 0xFA)), 32)
    assert rfc_5869.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
    letters = "0123456789abcdefghijklmnopqrstuvwxyz"
    for tweak, plain, radix, hidden in NIST_SAMPLES:
        digits = [letters.index(letter) for letter in plain]
        found = ff1(NIST_KEY, bytes.fromhex(tweak), digits, radix)
        assert "".join(letters[digit] for digit in found) == hidden, (plain, radix)
        assert ff1(NIST_KEY, bytes.fromhex(tweak), found, radix, reveals=True) == digits
    for tweak, bits, number, result in RADIX_2_SAMPLES:
        assert ff1_bits(NIST_KEY, bytes.fromhex(tweak), number, bits) == result, (bits, number)
        assert ff1_bits(NIST_KEY, bytes.fromhex(tweak), result, bits, reveals=True) == number
    return 3 + len(NIST_SAMPLES) + len(RADIX_2_SAMPLES)


# ------------------------------------------------------------------------------------------------ hidden ids


def hkdf(master: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    assert size <= 32
    extracted = hmac.digest(salt, master, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")[:size]


def keys() -> dict[int, bytes]:
    found = {}
    for line in KEYS_FILE.read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            version, key = line.split()[:2]
            found[int(version)] = bytes.fromhex(key)
    return found


def hide(mode: str, name_space: str, fields: list[tuple[str, int]], version: int, id: int) -> int:
    """The hidden form of an id of a layout, whose fields are (name, bits), the most significant first."""
    width = dict(fields)
    total = sum(width.values())
    bits_of_id = format(id, "b").rjust(total, "0")
    assert len(bits_of_id) == total
    values, at = {}, 0
    for name, bits in fields:
        values[name] = bits_of_id[at : at + bits]
        at += bits
    has_version = "version" in width
    plain = values["segment"] if "segment" in width else bits_of_id
    n = len(plain)

    size = 32 if mode == "chacha20" else 16
    info = f"libidgen/{mode}/v1|{n}|{version}".encode()
    key = hkdf(keys()[version], name_space.encode(), info, size)
    if mode == "ff1":
        gene = int(values["gene"], 2) if "gene" in values and "segment" in width else 0
        kind = 3 if not has_version else 2 if total > 64 else 1
        tweak = hashlib.sha256(name_space.encode()).digest()[:4] + bytes([kind])
        tweak += gene.to_bytes(3, "big") + version.to_bytes(3, "big")
        hidden = "".join(map(str, ff1(key, tweak, [int(bit) for bit in plain], 2)))
    else:
        stream = chacha20_block(key) if mode == "chacha20" else aes(key)(bytes(16))
        mask = "".join(format(byte, "08b") for byte in stream)[:n]
        hidden = "".join("1" if a != b else "0" for a, b in zip(plain, mask, strict=True))

    if "segment" not in width:
        return int(hidden, 2)
    values["segment"] = hidden
    if has_version:
        values["version"] = format(version, "b").rjust(width["version"], "0")
    return int("".join(values[name] for name, _ in fields), 2)


# Layout and key version; a layout without a version field has one version in a namespace.
CASES = [
    ("business64", 1),
    ("business64", 2),
    ("gene:14 version:7 segment:42", 2),
    ("gene:15 version:6 segment:42", 3),
    ("business128", 1),
    ("business128", 3),
    ("default", 1),
    ("js53", 2),
    ("mastodon", 1),
    ("order", 3),
    ("segment:48", 1),
    ("segment:63", 1),
    ("gene:16 segment:47", 2),
    ("gene:20 version:3 segment:20", 1),
]


def rows(fields_of: Callable[[str], tuple[list[tuple[str, int]], int]]) -> list[list[str]]:
    check_samples()
    rng = random.Random(38)
    found = []
    for mode in ("ff1", "chacha20", "aes-ctr"):
        for number, (layout, version) in enumerate(CASES):
            fields, _ = fields_of(layout)
            total = sum(bits for _, bits in fields)
            name_space = f"{mode} {number}"
            ids = {0, 1, 2, 2**total - 1, *(rng.getrandbits(total) for _ in range(6 if mode == "ff1" else 2))}
            if "version" in dict(fields):  # in a plain id it is 0
                at, lowest = total, 0
                for name, bits in fields:
                    at -= bits
                    lowest = (2**bits - 1) << at if name == "version" else lowest
                ids = {id & ~lowest for id in ids}
            for id in sorted(ids):
                hidden = hide(mode, name_space, fields, version, id)
                found.append([mode, name_space, layout, str(version), str(id), str(hidden)])
    return found


if __name__ == "__main__":
    print(f"{check_samples()} samples of FIPS 197, RFC 8439, RFC 5869 and SP 800-38G come out right")
