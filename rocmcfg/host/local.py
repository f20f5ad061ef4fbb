"""Write to a host, a directory tree: see `view` for who may hold one."""

from __future__ import annotations

import errno
import os
import pwd
import re
import syslog
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from rocmcfg.host import atomic, runner
from rocmcfg.host.inside import Place
from rocmcfg.host.local_view import READ_LIMIT, LocalView, text_or_empty
from rocmcfg.host.problems import CommandResult, Locked, Unreadable, Unwritable
from rocmcfg.host.state_dir import STATE_MODE
from rocmcfg.model.file_state import FileState, Stamp
from rocmcfg.model.regex import regex

if TYPE_CHECKING:
    from rocmcfg.host.package_manager import RunningProgram

# Debian's and Ubuntu's (pam_env(8), update-locale(8)), then systemd's (locale.conf(5)).
_LOCALE_FILES = ("/etc/default/locale", "/etc/locale.conf")
_LOCALE = regex(r"""^(LANG|LANGUAGE|LC_MESSAGES|LC_ALL)=["']?([\w.@:-]+)""", re.MULTILINE)


class LocalHost(LocalView):
    def write(self, path: str, state: FileState, *, keep_mtime: bool) -> None:
        """Replace or create a file in one atomic, durable step. Raises Unwritable."""
        with self._written(path, len(state.content)) as place:
            atomic.replace_file(place.name, state, keep_mtime=keep_mtime, directory=place.directory)

    def copy(self, source: str, path: str, like: Stamp) -> None:
        """Replace or create a file of any size like `write`: with the content of `source`, and the owner,
        mode, time and attributes of `like`. Raises Unreadable or Unwritable."""
        descriptor = self._opened(source, follow_last=False)
        if descriptor is None:
            raise Unreadable(source, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        try:
            state = FileState(b"", like.mode, like.uid, like.gid, like.mtime_ns, like.xattrs)
            with self._written(path, like.size) as place:
                atomic.replace_file(
                    place.name, state, keep_mtime=True, directory=place.directory, source=descriptor
                )
        finally:
            os.close(descriptor)

    def create(self, path: str, pieces: Iterable[bytes]) -> None:
        """Create a file of any size from its pieces, readable by its owner alone. Raises Unwritable."""
        with self._written(path) as place:
            atomic.create_file(place.name, pieces, directory=place.directory)

    def set_attribute(self, path: str, content: bytes) -> None:
        """Write into a file of /sys that the kernel made. Raises Unwritable."""
        with self._written(path) as place:
            flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(place.name, flags, dir_fd=place.directory)
            try:
                os.write(descriptor, content)
            finally:
                os.close(descriptor)

    def rename_dir(self, path: str, name: str) -> None:
        """Give a folder another name in the same folder, durably. Raises Unwritable."""
        with self._written(path) as place:
            atomic.rename_directory(place.name, name, directory=place.directory)

    def remove(self, path: str) -> None:
        with self._written(path) as place:
            atomic.remove_file(place.name, directory=place.directory)

    def discard_temporary(self, path: str) -> None:
        """Remove the temporary file that a crash during `write` may have left next to `path`."""
        with self._written(path) as place:
            atomic.discard_temporary(place.name, directory=place.directory)

    def make_dir(self, path: str, mode: int) -> None:
        if not self.is_dir(path):
            with self._written(path) as place:
                atomic.make_directory(place.name, mode, directory=place.directory)

    def make_dirs(self, path: str, mode: int) -> list[str]:
        """Make a folder and the missing folders above it, and return the new ones. `mode` is the mode of the
        last one; the others get 0755. Raises Unwritable."""
        missing = self.missing_folders(path)
        for folder in missing:
            self.make_dir(folder, mode if folder == path else 0o755)
        return missing

    def remove_dir(self, path: str) -> None:
        """Remove a folder. A folder that is not empty stays, which is not an error: another program uses it
        now. Raises Unwritable."""
        try:
            with self._place(path, follow_last=False) as place:
                atomic.remove_directory(place.name, directory=place.directory)
        except OSError as problem:
            if problem.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise Unwritable(path, problem, root=self.root) from problem

    def append(self, path: str, line: bytes) -> None:
        """Append to a file of the private state directory, durably. Raises Unwritable."""
        with self._written(path) as place:
            atomic.append_line(place.name, line, directory=place.directory)

    def settle(self, paths: Sequence[str]) -> None:
        """Sync the file systems that hold these files or directories, so that a boot loader finds after a
        power cut what programs wrote there. Raises Unwritable."""
        from rocmcfg.host.durability import settle

        for there in dict.fromkeys(map(self._existing, paths)):
            try:
                with self._place(there) as place:
                    settle(place)
            except OSError as problem:
                raise Unwritable(there, problem, root=self.root) from problem

    def writable_problem(self, path: str, size: int = 0) -> str:
        """Return why a file of `size` bytes cannot be written at `path`, in addition to the present one: a
        read-only file system, no permission, no space. Empty where it can."""
        probe = self._existing(path)
        if probe != path and not self.is_dir(probe):
            return f"{probe} is not a directory"
        folder = probe if self.is_dir(probe) else os.path.dirname(probe)
        try:
            with self._place(folder) as place:
                descriptor = os.open(place.name, os.O_PATH | os.O_CLOEXEC, dir_fd=place.directory)
                try:
                    system = os.statvfs(descriptor)
                    if system.f_flag & os.ST_RDONLY:
                        return "the file system is read-only"
                    # root may use the reserved blocks; a file system without a limit has no blocks
                    blocks = system.f_bfree if os.geteuid() == 0 else system.f_bavail
                    free = blocks * system.f_frsize
                    if system.f_blocks and free < size:
                        return f"the file system is full: {size} bytes are needed, and {free} are free"
                finally:
                    os.close(descriptor)
                if not os.access(place.name, os.W_OK, dir_fd=place.directory):
                    return "no permission to write there"
        except OSError as problem:
            return problem.strerror or str(problem)
        return ""

    def _existing(self, path: str) -> str:
        """Return the path, or else the nearest folder above it that exists."""
        while not self.exists(path) and path != "/":
            path = os.path.dirname(path)
        return path

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        """Run a program that changes the host, with no stdin, a time limit in seconds, and C.UTF-8.
        `survivors` finds it by its `mark`, which no other user must know."""
        # with the host's locale: a boot menu in another language would have other titles
        locale = dict(_LOCALE.findall("\n".join(text_or_empty(self, path) for path in _LOCALE_FILES)))
        command = self._inside(argv)
        done = runner.execute(command, timeout=timeout, progress=progress, mark=mark, locale=locale)
        return done._replace(argv=tuple(argv))

    def started(self, mark: str) -> list[str]:
        """Return root's programs that are still running and were started with this mark, directly or
        indirectly."""
        return [f"{name} (process {pid})" for pid, name in runner.started(mark)]

    def survivors(self, mark: str) -> list[str]:
        """Return root's programs started with this mark that are still running although their rocmcfg is
        not."""
        if not self.runs_tools or not mark:
            return []
        return [f"{name} (process {pid})" for pid, name in runner.survivors(mark)]

    def unpack(
        self, argv: Sequence[str], wanted: Sequence[str], *, here: bool = False
    ) -> dict[str, bytes] | None:
        """Run `argv` plus a scratch directory, and return the content of the `wanted` files that it put
        there, by their path relative to it; None where the program failed. `here`: the program takes no
        directory and unpacks into its working directory."""
        import shutil
        import tempfile

        # an unpacked image is large, and /tmp may be memory
        parent = os.path.join(self.root, self.real_path("/var/tmp").lstrip("/"))
        scratch = tempfile.mkdtemp(prefix="rocmcfg-", dir=parent if os.path.isdir(parent) else None)
        inside = scratch[len(self.root) :] if self.offline else scratch
        command = [*argv, inside] if not here else ["sh", "-c", 'cd "$0" && exec "$@"', inside, *argv]
        try:
            result = runner.execute(self._inside(command), timeout=900, progress=lambda: None)
            if not result.ok:
                return None
            return {name: content for name in wanted for content in _contents(scratch, name)}
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    @contextmanager
    def lock_of(self, path: str, *, stays: bool) -> Iterator[None]:
        """Hold a lock of a part of the state; `stays`: its file is left in place afterwards. Raises Locked at
        once where another process holds it, or Unwritable."""
        from rocmcfg.host import lock

        with ExitStack() as held:
            try:
                place = held.enter_context(self._place(path, follow_last=False))
                held.enter_context(lock.exclusive(place, path, stays=stays))
            except OSError as problem:
                raise Unwritable(path, problem, root=self.root) from problem
            yield

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock that allows one writer per host. Raises Locked at once where another process holds
        it, or Unwritable."""
        from rocmcfg.host import lock

        path = lock.OFFLINE if self.offline else lock.FILE
        with ExitStack() as held:
            try:
                held.enter_context(self._folder(os.path.dirname(path)))
                place = held.enter_context(self._place(path, follow_last=False))
                taken = lock.exclusive(place, path, stays=not self.offline)
                self._lock = held.enter_context(taken)
            except OSError as problem:
                raise Unwritable(path, problem, root=self.root) from problem
            try:
                yield
            finally:
                self._lock = None

    def wait_for_package_manager(
        self, progress: Callable[[str], None], generators: Collection[str] = ()
    ) -> None:
        """Wait until neither a package manager nor a program of the names `generators` is running here.
        Raises PackageManagerRunning if it takes too long, and Locked if it belongs to another rocmcfg. The
        lock must not be held meanwhile: a hook of the package manager may need it."""
        from rocmcfg.host import package_manager

        def of_others() -> RunningProgram | None:
            program = self._package_manager(generators)
            if program is not None and not program.path and (other := self.locked_by()) is not None:
                raise other  # it started the generator
            return program

        package_manager.wait(of_others, progress)

    def require_no_package_manager(self, generators: Collection[str] = ()) -> None:
        """Raise PackageManagerRunning where a package manager, or a program of the names `generators`, is
        running here."""
        from rocmcfg.host import package_manager

        if (manager := self._package_manager(generators)) is not None:
            raise package_manager.PackageManagerRunning(manager)

    def _package_manager(self, generators: Collection[str]) -> RunningProgram | None:
        from rocmcfg.host import package_manager

        manager = package_manager.running_manager(self._place)
        return manager or package_manager.running_generator(self.root, generators)

    def require_lock(self) -> None:
        """Raise Locked where we do not, or no longer, hold the lock."""
        from rocmcfg.host import lock

        if self._lock is None or not self._lock.is_named():
            raise Locked(lock.FILE, "", lost=True)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Show other processes, inside the block, that we hold the lock and wait for the user's answer."""
        if self._lock is None:
            yield
            return
        self._lock.note(True)
        try:
            yield
        finally:
            self._lock.note(False)

    @contextmanager
    def _folder(self, path: str) -> Iterator[None]:
        """Make a directory, and on an offline root remove it after use. Raises Unwritable."""
        made = self.make_dirs(path, STATE_MODE)
        try:
            yield
        finally:
            for folder in reversed(made) if self.offline else ():
                with suppress(Unwritable):  # an empty folder is harmless, and must not hide the result
                    self.remove_dir(folder)

    def log(self, message: str) -> None:
        """Write one line to the host's own journal or syslog; nothing on an offline root. Never raises."""
        if self.offline:
            return
        # a name that is not UTF-8, or has a line break, would cause an error or a second line in syslog
        line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
        syslog.openlog("rocmcfg", syslog.LOG_PID, syslog.LOG_AUTHPRIV)
        syslog.syslog(syslog.LOG_NOTICE, line)
        syslog.closelog()

    def user(self) -> str:
        """Return the user: the account that called sudo, or else the one that runs rocmcfg."""
        sudo = os.environ.get("SUDO_USER")
        if sudo and os.geteuid() == 0:
            return sudo
        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            return str(os.getuid())

    def new_file(self, content: bytes, mode: int) -> FileState:
        """Return the state of a new file of ours, owned by the owner of this host's files (root, or the
        present user on an offline root)."""
        return FileState(content, mode, os.geteuid(), os.getegid(), 0)

    @contextmanager
    def _written(self, path: str, size: int = 0) -> Iterator[Place]:
        """Yield the place for a change at exactly this name, never through a link there. `size` is the space
        that the change needs, in bytes. Raises Unwritable."""
        try:
            with self._place(path, follow_last=False) as place:
                yield place
        except OSError as problem:
            hint = f"the file system is full: free at least {size} bytes there, then run the command again"
            full = size and problem.errno == errno.ENOSPC
            raise Unwritable(path, problem, hint if full else "", root=self.root) from problem


def _contents(scratch: str, name: str) -> Iterator[bytes]:
    # unmkinitramfs unpacks an image of several archives into main/, early/ …, and a simple one into the top
    # folder.
    for top in ("", "main"):
        path = os.path.join(scratch, top, name)
        if os.path.isfile(path):
            with open(path, "rb") as stream:
                yield stream.read(READ_LIMIT)
            return
