"""The file system of a fake sandbox: absolute paths in a dict. Owners and permissions are kept but not enforced."""

import fnmatch
import posixpath
from dataclasses import dataclass, replace

from sandbox.tree import File, Tree


@dataclass(frozen=True)
class Node:
    """A file, a folder (`is_folder`), or a link (`target`)."""

    data: bytes = b""
    mode: int = 0o644
    is_folder: bool = False
    target: str | None = None
    uid: int = 0


FOLDER = Node(mode=0o755, is_folder=True)
_PASSWD = b"root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
_BASE = ("/bin", "/dev", "/etc", "/home", "/opt", "/root", "/srv", "/tmp", "/usr", "/usr/bin", "/var", "/var/log")


class FakeFiles:
    """Reading and writing raise the OSErrors that the real thing would (FileNotFoundError, IsADirectoryError ...)."""

    def __init__(self, nodes: dict[str, Node] | None = None) -> None:
        base = dict.fromkeys(_BASE, FOLDER) | {"/etc/passwd": Node(_PASSWD), "/dev/null": Node(mode=0o666)}
        self._nodes = dict(base if nodes is None else nodes)
        self.ever: set[str] = set()

    def copy(self) -> "FakeFiles":
        twin = FakeFiles(self._nodes)
        twin.ever = set(self.ever)
        return twin

    def node(self, path: str, *, follow: bool = True) -> Node:
        """Raises FileNotFoundError."""
        for _ in range(40):
            found = FOLDER if path == "/" else self._nodes.get(path)
            if found is None:
                raise FileNotFoundError(path)
            if found.target is None or not follow:
                return found
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), found.target))
        raise FileNotFoundError(path)

    def exists(self, path: str) -> bool:
        try:
            self.node(path)
        except FileNotFoundError:
            return False
        return True

    def is_folder(self, path: str) -> bool:
        return self.exists(path) and self.node(path).is_folder

    def is_file(self, path: str) -> bool:
        return self.exists(path) and not self.node(path).is_folder

    def read(self, path: str) -> bytes:
        found = self.node(path)
        if found.is_folder:
            raise IsADirectoryError(path)
        return found.data

    def write(self, path: str, data: bytes, mode: int | None = None) -> None:
        """Write a file; an existing one keeps its mode unless one is given."""
        if path == "/dev/null":
            return
        if self.is_folder(path):
            raise IsADirectoryError(path)
        self._need_parent(path)
        known = self._nodes.get(path, Node())
        self._set(path, replace(known, data=data, mode=known.mode if mode is None else mode, target=None))

    def append(self, path: str, data: bytes) -> None:
        self.write(path, (self.read(path) if self.is_file(path) else b"") + data)

    def place(self, path: str, node: Node) -> None:
        """Put any node, with the folders above it."""
        self.make_folders(posixpath.dirname(path))
        self._set(path, node)

    def make_folder(self, path: str) -> None:
        if self.exists(path):
            raise FileExistsError(path)
        self._need_parent(path)
        self._set(path, FOLDER)

    def make_folders(self, path: str) -> None:
        if path in ("/", ""):
            return
        self.make_folders(posixpath.dirname(path))
        if not self.is_folder(path):
            if path in self._nodes:
                raise NotADirectoryError(path)
            self._set(path, FOLDER)

    def chmod(self, path: str, mode: int) -> None:
        self._set(path, replace(self.node(path, follow=False), mode=mode))

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all below it."""
        self.node(path, follow=False)
        for inner in [path, *self.below(path)]:
            self._nodes.pop(inner, None)

    def children(self, path: str) -> list[str]:
        """Names directly in a folder, sorted."""
        prefix = path.rstrip("/") + "/"
        return sorted(p[len(prefix) :] for p in self._nodes if p.startswith(prefix) and "/" not in p[len(prefix) :])

    def below(self, path: str) -> list[str]:
        """All paths below a folder, parents first."""
        prefix = path.rstrip("/") + "/"
        return sorted(known for known in self._nodes if known.startswith(prefix))

    def matching(self, pattern: str) -> list[str]:
        """Paths that match a shell pattern, part by part."""
        depth = pattern.count("/")
        found = (p for p in self._nodes if p.count("/") == depth and fnmatch.fnmatchcase(p, pattern))
        return sorted(p for p in found if _parts_match(p, pattern))

    def size(self) -> int:
        return sum(len(node.data) for node in self._nodes.values())

    def put(self, tree: Tree, dest: str, uid: int = 0) -> None:
        self.make_folders(dest)
        for path, file in tree.items():
            self.place(posixpath.join(dest, path), Node(file.data, file.mode, uid=uid))

    def tree(self, path: str) -> Tree:
        """The regular files below a folder."""
        prefix = path.rstrip("/") + "/"
        inner = ((name, self._nodes[name]) for name in self.below(path))
        return Tree(
            {
                name[len(prefix) :]: File(node.data, node.mode)
                for name, node in inner
                if not node.is_folder and node.target is None
            }
        )

    def _need_parent(self, path: str) -> None:
        parent = posixpath.dirname(path)
        if not self.exists(parent):
            raise FileNotFoundError(path)
        if not self.is_folder(parent):
            raise NotADirectoryError(path)

    def _set(self, path: str, node: Node) -> None:
        self._nodes[path] = node
        if not node.is_folder:
            self.ever.add(path)


def _parts_match(path: str, pattern: str) -> bool:
    pairs = zip(path.split("/"), pattern.split("/"), strict=True)
    return all(fnmatch.fnmatchcase(part, wanted) and (part[:1] != "." or wanted[:1] == ".") for part, wanted in pairs)
