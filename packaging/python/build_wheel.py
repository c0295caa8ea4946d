#!/usr/bin/env python3
"""Makes a wheel that installs the programs as they are: build_wheel.py VERSION DIRECTORY PROGRAM…"""

import base64
import hashlib
import pathlib
import stat
import sys
import zipfile

# A static program needs no library of the system, so one wheel fits every Linux on x86-64.
TAGS = ["manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"]
PROJECT = "probity_cli"  # the name `probity` belongs to another project on the index


def main(version: str, directory: str, *programs: str) -> None:
    info = f"{PROJECT}-{version}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: probity\nRoot-Is-Purelib: false\n"
    metadata = (
        f"Metadata-Version: 2.1\nName: probity-cli\nVersion: {version}\n"
        "Summary: Change control for AI coding agents\nLicense: MIT OR Apache-2.0\n"
        "Home-page: https://probity.dev\n"
    )
    files = {f"{PROJECT}-{version}.data/scripts/{pathlib.Path(p).name}": pathlib.Path(p).read_bytes() for p in programs}
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = (wheel + "".join(f"Tag: py3-none-{tag}\n" for tag in TAGS)).encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = pathlib.Path(directory) / f"{PROJECT}-{version}-py3-none-{'.'.join(TAGS)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            # One date, so that the same programs give the same wheel.
            entry = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            # pip makes a script executable only if the entry says that it is a regular file.
            entry.external_attr = (stat.S_IFREG | (0o755 if "/scripts/" in name else 0o644)) << 16
            archive.writestr(entry, data)


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(*sys.argv[1:])
