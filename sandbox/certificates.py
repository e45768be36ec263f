"""How tools in a container come to trust a certificate bundle: files to have, and variables that point at them."""

from collections.abc import Mapping

from sandbox.tree import File

FOLDER = "/usr/local/share/forge-ca"
CONTEXT_FOLDER = ".forge-ca"
_BUNDLE = f"{FOLDER}/ca.pem"
VARIABLES: Mapping[str, str] = {
    "SSL_CERT_FILE": _BUNDLE,
    "PIP_CERT": _BUNDLE,
    "REQUESTS_CA_BUNDLE": _BUNDLE,
    "CURL_CA_BUNDLE": _BUNDLE,
    "GIT_SSL_CAINFO": _BUNDLE,
    "NODE_EXTRA_CA_CERTS": _BUNDLE,
    "APT_CONFIG": f"{FOLDER}/apt.conf",
}


def bundle_files(bundle: bytes) -> dict[str, File]:
    """The files to have in FOLDER."""
    return {"ca.pem": File(bundle), "apt.conf": File(f'Acquire::https::CaInfo "{_BUNDLE}";\n'.encode())}


def build_lines() -> list[str]:
    """Lines of a Dockerfile whose context has the files in CONTEXT_FOLDER.

    ARG and not ENV: what runs in the build sees it, the image's own environment stays as its Dockerfile says."""
    return [f"COPY {CONTEXT_FOLDER} {FOLDER}", *(f"ARG {name}={value}" for name, value in VARIABLES.items())]
