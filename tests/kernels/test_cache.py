"""Caches are used only where nobody else can have written: real owners, modes and links."""

from __future__ import annotations

import ctypes
import grp
import os
import pwd
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest
from hostile_cache import SOMEBODY, SPOILT, give_away
from missing_kernels import built
from relfast_kernels import caches
from relfast_kernels.caches import Cache, UntrustedError, base_directory, user_cache
from relfast_kernels.compiled import making, native

ROOT_RUNS: bool = os.geteuid() == 0


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache directory that is as it should be, below two directories of the test's own."""
    directory = tmp_path / "above" / "cache"
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(directory))
    user_cache("native").check(make=True)
    umask = os.umask(0o022)
    yield directory
    os.umask(umask)


def of_this_machine(unit: str = "text") -> Path:
    """A unit's code, of this machine's cache; built there if need be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RELFAST_CACHE_DIR", raising=False)
        return built(unit)


@pytest.fixture
def planted(base: Path) -> Path:
    """A unit's code in that cache: whole, with the right digest."""
    path = of_this_machine()
    planted = base / "native" / path.name
    planted.write_bytes(path.read_bytes())
    return planted


# where


@pytest.mark.parametrize("home", [None, "", "relative", "/somewhere/else"])
def test_the_place_is_that_of_platformdirs(home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELFAST_CACHE_DIR", raising=False)
    if home is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", home)
    assert str(base_directory()) == platformdirs.user_cache_dir("relfast", appauthor=False)


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_what_is_missing_is_made_private(umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path / "a" / "b"))
    before = os.umask(umask)
    try:
        written = user_cache("isomers").write("file", b"content")
    finally:
        os.umask(before)
    assert user_cache("isomers").read("file") == b"content"
    made = [tmp_path / "a", tmp_path / "a" / "b", written.parent]
    assert [path.stat().st_mode & 0o7777 for path in (*made, written)] == [0o700, 0o700, 0o700, 0o600]


# directories


@pytest.mark.parametrize("depth", ["root", "kind"])
@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_directory_that_is_not_ours_alone_is_not_used(
    spoil: Callable[[Path], None], depth: str, base: Path
) -> None:
    spoilt = base if depth == "root" else base / "native"
    user_cache("native").write("file", b"content")
    spoil(spoilt)
    kept, before = user_cache("native"), os.listdir("/proc/self/fd")
    for use in (kept.check, kept.check_all, lambda: kept.read("file"), lambda: kept.write("file", b"")):
        with pytest.raises(UntrustedError, match=f"^{spoilt} (belongs to user|can be written by others)"):
            use()
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(
    ("spoil", "trusted"),
    [
        *((lambda path, mode=mode: path.chmod(mode), True) for mode in (0o1777, 0o755, 0o711)),
        (lambda path: path.chmod(0o777), False),
        (give_away, False),
    ],
)
def test_directories_above_in_which_others_can_swap_ours(
    spoil: Callable[[Path], None], trusted: bool, base: Path
) -> None:
    base.chmod(0o555)
    spoil(base.parent)
    assert _refused(base / "native") is not trusted


def test_a_group_may_write_above_if_it_is_its_users_own(base: Path) -> None:
    base.parent.chmod(0o775)
    names = {entry.pw_uid: entry.pw_name for entry in pwd.getpwall()}
    group = {entry.gr_gid: entry for entry in grp.getgrall()}.get(base.parent.stat().st_gid)
    name = names.get(os.geteuid())
    is_own = name and group and group.gr_name == name and not set(group.gr_mem) - {name}
    assert _refused(base) is not bool(is_own)
    if ROOT_RUNS:
        os.chown(base.parent, 0, SOMEBODY)
        assert _refused(base)


def test_links_on_the_way_are_followed_if_nobody_else_made_them(base: Path) -> None:
    user_cache("native").write("file", b"content")
    away = base.parent.parent / "away"
    base.rename(away)
    for target in (away, Path("../away")):
        base.symlink_to(target)
        assert user_cache("native").read("file") == b"content"
        # what a link of ours stands for is judged as ours
        away.chmod(0o1777)
        with pytest.raises(UntrustedError, match="away can be written by others"):
            user_cache("native").check()
        away.chmod(0o700)
        base.unlink()
    base.symlink_to(away)
    if ROOT_RUNS:
        os.lchown(base, SOMEBODY, SOMEBODY)
    else:
        base.parent.chmod(0o777)  # where anybody can make links
    assert _refused(base / "native")


def test_whose_cache_it_is_depends_on_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root's cache serves everybody; a user's own serves that user and nobody else, root included."""
    with tempfile.TemporaryDirectory(dir="/tmp") as above:  # pytest's directories let nobody else in
        base = Path(above) / "cache"
        monkeypatch.setenv("RELFAST_CACHE_DIR", str(base))
        file = user_cache("native").write("file", b"content")
        for path in (Path(above), base, base / "native", file):
            path.chmod(0o755)

        def works() -> bool:
            try:
                return user_cache("native").read("file") == b"content"
            except UntrustedError:
                return False

        assert works()
        if not ROOT_RUNS:
            base.chmod(0o757)
            assert not works()
            return
        assert as_somebody(works)
        for path in (base, base / "native", file):
            os.chown(path, SOMEBODY, SOMEBODY)
        assert as_somebody(works)
        assert not works()
        os.chown(base, SOMEBODY + 1, SOMEBODY)
        assert not as_somebody(works)


def as_somebody(function: Callable[[], bool]) -> bool:
    """What a function says in a child that is `SOMEBODY`, if we can have one."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            if ROOT_RUNS:
                os.setgroups([])
                os.setresgid(SOMEBODY, SOMEBODY, SOMEBODY)
                os.setresuid(SOMEBODY, SOMEBODY, SOMEBODY)
            status = int(function())
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1)
    return bool(status)


_PR_SET_DUMPABLE, _CLONE_NEWUSER = 4, 0x10000000


def test_owners_that_a_container_does_not_map() -> None:
    """Rootless containers map their user only: the host's root, whose ``/`` is, looks like nobody in there.

    That will do above a cache, and not for the cache itself. A host that allows no user namespaces shows
    only that nobody is nobody there.
    """
    with tempfile.TemporaryDirectory(dir="/tmp") as above:
        ours, roots = Path(above) / "ours", Path(above) / "roots"
        for path in (ours, roots):
            path.mkdir(0o755)
        Path(above).chmod(0o755)
        if ROOT_RUNS:
            os.chown(ours, SOMEBODY, SOMEBODY)
        user = SOMEBODY if ROOT_RUNS else os.geteuid()
        library = ctypes.CDLL(None)

        def judged() -> bool:
            library.prctl(_PR_SET_DUMPABLE, 1)  # else its map is root's to write
            if library.unshare(_CLONE_NEWUSER):
                return not caches._is_unmapped(os.stat("/").st_uid)
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            if os.stat("/").st_uid == user or not caches._is_unmapped(os.stat("/").st_uid):
                return False
            return Cache(ours).usable() and _refused(roots if ROOT_RUNS else Path("/usr"))

        assert as_somebody(judged)


def _refused(path: Path) -> bool:
    try:
        Cache(path).check()
    except UntrustedError:
        return True
    return False


# files


def _link(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    "spoil",
    [give_away, lambda path: path.chmod(0o660), lambda path: path.chmod(0o602), _link, _fifo],
    ids=["owner", "group", "all", "link", "fifo"],
)
def test_a_file_that_is_not_ours_alone_is_not_opened(spoil: Callable[[Path], None], base: Path) -> None:
    folder = user_cache("native")
    path = folder.write("file", b"content")
    folder.check_file("file")
    folder.check_all()
    spoil(path)
    for check in (folder.open, folder.check_file):
        with pytest.raises(UntrustedError, match=f"^{path} "):
            check("file")


def test_files_below_are_judged_by_who_gets_at_them(base: Path) -> None:
    """The umask's mode is no matter in a directory that lets nobody in."""
    folder, inner = user_cache("native"), base / "native" / "inner"
    inner.mkdir()
    inner.chmod(0o775)
    file = inner / "file"
    file.touch()
    file.chmod(0o664)
    folder.check_all()
    (base / "native").chmod(0o755)
    for path, private in ((inner, 0o755), (file, 0o644)):
        with pytest.raises(UntrustedError, match=f"^{path} can be written by others"):
            folder.check_all()
        path.chmod(private)
    folder.check_all()
    (inner / "link").symlink_to(file)
    with pytest.raises(UntrustedError, match="is a link"):
        folder.check_all()


# what is said


def test_it_is_said_once_a_process_and_not_by_workers(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base.chmod(0o777)
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error")
        patch.setenv(caches.QUIET_VARIABLE, "1")
        assert not user_cache("native").usable()

    def ask() -> None:
        assert not user_cache("native").usable()
        assert not user_cache("isomers").usable()
        caches.report()

    with pytest.warns(RuntimeWarning) as caught:
        ask()
    assert [str(one.message) for one in caught] == [
        f"relfast: a cache in {base} is not used: {base} can be written by others (mode 0777);"
        " RELFAST_CACHE_DIR chooses another place"
    ]


# machine code


@pytest.mark.parametrize("whole", [True, False], ids=["directory", "file"])
def test_planted_machine_code_is_not_loaded(whole: bool, base: Path, planted: Path) -> None:
    assert native.load("text") is not None
    held = os.listdir("/proc/self/fd")
    assert native.load("text") is not None
    assert os.listdir("/proc/self/fd") == held
    give_away(base if whole else planted)
    with pytest.warns(RuntimeWarning, match=f"{base if whole else planted} (belongs|can be written)"):
        assert native.load("text") is None
    assert not native.is_built("text")
    if whole:
        with pytest.raises(UntrustedError):
            making.make(["text"])


def test_what_was_read_is_what_is_loaded(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the name means another file by the time the loader comes."""
    read = native._read

    def read_and_swap(file: object) -> object:
        found = read(file)  # type: ignore[arg-type]
        planted.unlink()
        planted.write_bytes(b"another")
        return found

    monkeypatch.setattr(native, "_read", read_and_swap)
    functions = native.load("text")
    assert functions is not None
    assert {"scan", "write"} <= set(functions)


def test_what_nobody_has_used_for_a_week_is_removed(base: Path) -> None:
    path = of_this_machine("align")
    names = (path.name, "text-0.so", "text-1.so", ".linking-0")
    used, forgotten, recent, torn = (base / "native" / name for name in names)
    used.write_bytes(path.read_bytes())
    forgotten.touch(mode=0o600)
    recent.touch(mode=0o600)
    torn.mkdir()
    for old in (used, forgotten, torn):
        os.utime(old, (1.0, 1.0))
    assert native.load("align") is not None
    making.clean_up()
    assert sorted(base.glob("*/*")) == sorted([used, recent])
