#!/usr/bin/env python3
"""Checks that an evidence bundle is in a log: verify-proof.py BUNDLE PROOF [ed25519:PUBLIC-KEY]

BUNDLE is the directory of a bundle, PROOF the output of `probity evidence prove`. Needs nothing but Python's standard
library. It computes the run hash, the leaf and the root of the tree (RFC 6962); with a public key also the signature of
the checkpoint (C2SP signed-note, Ed25519). It does not judge the run: `probity evidence verify` does.
"""
import base64, hashlib, json, pathlib, sys

def sha256(*parts): return hashlib.sha256(b"".join(parts)).digest()

def canonical(value): return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

def root_of(leaf, index, size, path):                            # RFC 9162, section 2.1.3.2
    node, last = leaf, size - 1
    for sibling in path:
        assert last > 0, "the proof has too many hashes"
        if index & 1 or index == last:
            node = sha256(b"\x01", sibling, node)
            while not index & 1 and index: index, last = index >> 1, last >> 1
        else:
            node = sha256(b"\x01", node, sibling)
        index, last = index >> 1, last >> 1
    assert last == 0, "the proof has too few hashes"
    return node

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493      # Ed25519, RFC 8032
D = -121665 * pow(121666, -1, P) % P
def add(p, q):
    (a, b), (c, d) = p, q
    k = D * a * b * c * d % P
    return (a * d + b * c) * pow(1 + k, -1, P) % P, (b * d + a * c) * pow(1 - k, -1, P) % P
def times(n, p):
    sum = (0, 1)
    while n: sum, p, n = (add(sum, p) if n & 1 else sum), add(p, p), n >> 1
    return sum
def point(raw):
    y = int.from_bytes(raw, "little"); sign, y = y >> 255, y % 2**255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square: x = x * pow(2, (P - 1) // 4, P) % P
    assert y < P and x * x % P == square, "not a point of the curve"
    return (P - x if x & 1 != sign else x), y
BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
def is_signed(key, message, signature):
    s = int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    return s < L and times(s, BASE) == add(point(signature[:32]), times(h, point(key)))

def main(bundle, proof, key=None):
    manifest = json.loads((pathlib.Path(bundle) / "manifest.json").read_text("utf-8"))
    proof = json.loads(pathlib.Path(proof).read_text("utf-8"))
    hashed = {name: value for name, value in manifest.items() if name not in ("run_hash", "signature")}
    run_hash = "sha256:" + hashlib.sha256(canonical(hashed)).hexdigest()
    assert run_hash == manifest["run_hash"], "the manifest was changed"
    leaf = proof["leaf"]
    assert (leaf["log"], leaf["name"], leaf["event"]) == ("bundles", manifest["run_id"], run_hash), "about another bundle"
    data = f"probity/log-leaf/v1\n{leaf['log']}\n{leaf['seq']}\n{leaf['name']}\n{leaf['event']}".encode()
    body, _, lines = proof["checkpoint"].partition("\n\n")
    origin, size, root = (body + "\n" if lines else body).split("\n")[:3]
    hashes = [bytes.fromhex(text.removeprefix("sha256:")) for text in proof["hashes"]]
    assert 0 <= proof["index"] < int(size), "the tree has no such leaf"
    found = root_of(sha256(b"\x00", data), proof["index"], int(size), hashes)
    assert found == base64.b64decode(root), "the hashes lead to another root"
    if key:
        public = bytes.fromhex(key.removeprefix("ed25519:"))
        key_id = sha256(origin.encode(), b"\n\x01", public)[:4]
        notes = [line.split(" ") for line in lines.splitlines()]
        own = [raw[4:] for dash, name, text in notes if name == origin and (raw := base64.b64decode(text))[:4] == key_id]
        assert own and all(is_signed(public, (body + "\n").encode(), raw) for raw in own), "the log's key did not sign it"
    print(f"ok: run {manifest['run_id']} is leaf {proof['index']} of {size} in {origin}" + (", signed" if key else ""))

if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip())
    try:
        main(*sys.argv[1:])
    except (AssertionError, KeyError, ValueError, TypeError, OSError) as error:
        sys.exit(f"not proven: {error!r}")
