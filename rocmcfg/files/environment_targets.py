"""The readers of variables: those that always get them, and those that get them on request (`--env-target`).

A value consists of letters, digits and ._,:;@%+=/- (`model.spelling`), so few rules of quoting matter:

always: environment.d(5), for systemd's user sessions; profile.d, for POSIX login shells; and a raw file, for
    systemd's EnvironmentFile= and `docker --env-file`, which takes quotes literally.
fish: /etc/fish/conf.d/*.fish are sourced after the user's, and before those of vendors and the two
    config.fish (share/config.fish of fish 3.6). Nothing is expanded between single quotes (fish-language).
systemd: DefaultEnvironment= of the system manager, for all its services (systemd-system.conf(5), 252), with
    words in quotes (systemd.syntax(7)); `%` begins a specifier unless it is doubled.
unit:NAME.service: Environment= of one service, in the same words (systemd.exec(5)). The drop-ins of a
    service are read in the order of their names (systemd.unit(5)).
environment: /etc/environment, a foreign file: NAME=VALUE for every login by PAM. A backslash at the end of
    a line joins the next one, and nothing is read after a line that is too long: 1,023 bytes in old
    releases, 8,190 in 1.5.2 (linux-pam, pam_env.c, BUF_SIZE).
gentoo: /etc/env.d, files whose names begin with two digits, in order; env-update makes /etc/profile.env from
    them, and later files win (portage, lib/portage/util/env_update.py; Gentoo handbook, EnvVar).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from os.path import basename, splitext

from rocmcfg.files import env_update, marked_lines, templates, unit_environment
from rocmcfg.files.environment import (
    DIRECTORIES,
    PLACES,
    Assignment,
    last_of,
    read_script,
    untold,
)
from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.languages import Effect, Statement, dotenv, env_file, fish, pam_env, portage, shell, unit
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.edit import Editor
from rocmcfg.model.plan import Activation
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_UNITS = "/etc/systemd/system"
_NAME = "90-rocmcfg.conf"
UNIT_FILES = f"{_UNITS}/*.service.d/{_NAME}"  # the notation of the shell and the manual
_SPELLED = regex(r"unit:([A-Za-z0-9:_.\\-]+(?:@[A-Za-z0-9:_.\\-]*)?)\.service")
_UNIT_FILE = regex(rf"{_UNITS}/([A-Za-z0-9:_.\\@-]+\.service)\.d/{_NAME}")
_UNIT_FOLDERS = tuple(f"{place}/systemd/system" for place in (*PLACES, "/lib"))
_LONGEST = 1023


class Target(NamedTuple):
    """A reader of variables. `name` is empty for a reader that always gets them. `needs`: a host with the
    reader has one of these paths. `template` renders our assignments, and with `whole` the complete file.
    `reads` parses the language of its files; without it they are shell scripts. After our file the reader
    reads the later files of `folders` with the same suffix, or those that match `others`, and then `behind`.
    `results` are scripts that a program generates from ours."""

    name: str
    path: str
    readers: str
    needs: tuple[str, ...] = ()
    template: Callable[..., str] = templates.environment_conf
    reads: Callable[[str], Iterable[Statement]] | None = None
    folders: tuple[str, ...] = ()
    others: str = ""
    behind: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    def lines(self, settings: Sequence[DesiredSetting]) -> str:
        """Return our assignments alone."""
        return self.template(variables=settings, whole=False)


def _environment_d(text: str) -> Iterable[Statement]:
    return env_file.read_environment_d(text, {})


def _raw(text: str) -> Iterable[Statement]:
    """Yield the statements; the value is None where the two readers see different ones."""
    by_systemd = {
        (statement.line, statement.name): statement.value
        for statement in env_file.read_environment_file(text)
    }
    for statement in dotenv.read_env_file(text):
        same = by_systemd.get((statement.line, statement.name)) == statement.value
        yield statement if same else statement._replace(value=None)


ENVIRONMENT_D = Target(
    "",
    "/etc/environment.d/90-rocmcfg.conf",
    "systemd user sessions",
    reads=_environment_d,
    folders=DIRECTORIES,
)
PROFILE_D = Target(
    "",
    "/etc/profile.d/zz-rocmcfg.sh",
    "login shells",
    template=templates.profile_sh,
    folders=("/etc/profile.d",),
)
RAW = Target("", "/etc/rocmcfg/env", "docker --env-file, EnvironmentFile=", reads=_raw)
ALWAYS = (ENVIRONMENT_D, PROFILE_D, RAW)
FISH = Target(
    "fish",
    "/etc/fish/conf.d/zz-rocmcfg.fish",
    "fish shells",
    ("/usr/bin/fish", "/usr/local/bin/fish", "/etc/fish"),
    templates.conf_fish,
    fish.read,
    folders=("/etc/fish/conf.d",),
    behind=("/usr/share/fish/vendor_conf.d", "/etc/fish/config.fish"),
)
SYSTEMD = Target(
    "systemd",
    f"/etc/systemd/system.conf.d/{_NAME}",
    "services of the system when they start",
    ("/usr/lib/systemd/systemd", "/lib/systemd/systemd"),
    templates.system_conf,
    unit.read,
    tuple(f"{place}/systemd/system.conf.d" for place in PLACES),
)
# Later lines are in the same file, and the last one counts.
_PAM = ("/etc/pam.d", "/etc/pam.conf", "/usr/lib/pam.d")
ENVIRONMENT = Target("environment", "/etc/environment", "logins by PAM", _PAM, reads=pam_env.read)
# the foreign files, each with the editor for our part
EDITED: dict[str, Editor] = {ENVIRONMENT.path: marked_lines}
GENTOO = Target(
    "gentoo",
    f"{env_update.FOLDER}/99rocmcfg",
    "logins on Gentoo",
    ("/usr/sbin/env-update", "/usr/bin/env-update"),
    templates.gentoo,
    portage.read,
    folders=(env_update.FOLDER,),
    others=env_update.READ,
    results=(env_update.PROFILE,),
)
FIXED = (FISH, SYSTEMD, ENVIRONMENT, GENTOO)
EVERY = (*ALWAYS, *FIXED)  # all except the services
NAMES = (*(target.name for target in FIXED), "unit:NAME.service")


def is_name(name: str) -> bool:
    return name in (target.name for target in FIXED) or _SPELLED.fullmatch(name) is not None


def chosen(names: Sequence[str]) -> tuple[Target, ...]:
    """Return the targets that always get variables, and the target of each of these names once; a name
    without a target is ignored."""
    units = sorted({match[1] for name in names if (match := _SPELLED.fullmatch(name))})
    fixed = (target for target in FIXED if target.name in names)
    return (*ALWAYS, *fixed, *(_unit(f"{unit}.service") for unit in units))


def _unit(unit: str) -> Target:
    names = dict.fromkeys((unit, re.sub(r"@.+(?=\.service$)", "@", unit)))
    return SYSTEMD._replace(
        name=f"unit:{unit}",
        path=f"{_UNITS}/{unit}.d/{_NAME}",
        readers=f"{unit} when it starts",
        needs=tuple(f"{folder}/{name}" for folder in _UNIT_FOLDERS for name in names),
        template=templates.service_conf,
        folders=tuple(f"{folder}/{unit}.d" for folder in _UNIT_FOLDERS),
    )


def unit_file(path: str) -> str:
    """Return the drop-in of a service if the path is this file or its folder; empty for any other path."""
    file = path if path.endswith(f"/{_NAME}") else f"{path}/{_NAME}"
    return file if _UNIT_FILE.fullmatch(file) else ""


def unit_files(view: HostView) -> tuple[str, ...]:
    """Return our drop-ins on this host, for all services."""
    folders = (f"{_UNITS}/{name}" for name in sorted(view.names(_UNITS)) if name.endswith(".service.d"))
    paths = (f"{folder}/{_NAME}" for folder in folders if _NAME in view.names(folder))
    return tuple(filter(unit_file, paths))


def propose(target: Target, settings: Sequence[DesiredSetting]) -> bytes | None:
    """Return our part of the target's file: the whole content, or the lines between our marks."""
    if not settings:
        return None
    if target is ENVIRONMENT:
        return marked_lines.part(target.lines(settings))
    return target.template(variables=settings, whole=True).encode()


def problems(
    view: HostView, names: Sequence[str], settings: Sequence[DesiredSetting]
) -> Iterable[Diagnostic]:
    """Yield why a reader would not get the variables, before anything is written."""
    for target in chosen(names) if settings else ():
        here = not target.needs or any(map(view.exists, target.needs))
        if here and target is ENVIRONMENT:
            yield from _unfit(view, settings)
        elif not here and target.name.startswith("unit:"):
            summary = f"{target.name.removeprefix('unit:')} is not a unit of this host"
            hint = "the variables take effect once it exists; check its name with systemctl list-units"
            yield warning("RC3302", summary, location=target.path, hint=hint)
        elif not here:
            summary = f"nothing on this host reads the file of --env-target {target.name}"
            detail = f"none of these exists: {', '.join(target.needs)}"
            hint = f"leave --env-target {target.name} out, or install its reader first"
            yield error("RC3301", summary, detail=detail, location=target.path, hint=hint)


def _unfit(view: HostView, settings: Sequence[DesiredSetting]) -> Iterable[Diagnostic]:
    path = ENVIRONMENT.path
    if not view.exists(path):
        summary = f"{path} does not exist on this host, and rocmcfg does not create it"
        hint = f"create an empty file (sudo touch {path}), then run the command again"
        yield error("RC3303", summary, location=path, hint=hint)
        return
    for setting in (
        variable for variable in settings if len(ENVIRONMENT.lines([variable]).encode()) > _LONGEST
    ):
        summary = f"{setting.id} needs a line of more than {_LONGEST} bytes, at which pam_env stops"
        hint = "shorten the value, or leave --env-target environment out"
        yield error("RC3304", summary, location=path, hint=hint)
    before = text_or_empty(view, path).partition(marked_lines.BEGIN)[0].splitlines()
    read = [line for line in before if line.strip() and not line.lstrip().startswith("#")]
    if read and read[-1].rstrip().endswith("\\"):
        summary = (
            f"the last line of {path} ends with a backslash, which would join rocmcfg's first line to it"
        )
        hint = "remove that backslash, then run the command again"
        yield error("RC3306", summary, location=path, hint=hint)


def read(view: HostView, target: Target) -> dict[str, dict[str, Assignment]]:
    """Return the variables of each file that must hold them, by path and name."""
    files = {path: _script(view, path) for path in target.results}
    own = _script(view, target.path) if target.reads is None else _file(view, target, target.path)
    return {target.path: own, **files}


def _script(view: HostView, path: str) -> dict[str, Assignment]:
    made = read_script(view, path, shell.Environment())
    return {name: assignment for name, assignment in made.items() if assignment is not None}


def _file(view: HostView, target: Target, path: str) -> dict[str, Assignment]:
    assert target.reads is not None
    return last_of(target.reads(text_or_empty(view, path)), path)


def later_assignments(view: HostView, names: Sequence[str]) -> dict[str, Assignment]:
    """Return by name the assignments that one of these readers reads after our file. The value is empty for a
    variable that is unset or left empty, and None where it is not known."""
    assignments: dict[str, Assignment] = {}
    for target in chosen(names):
        ours = read(view, target)[target.path]
        values = {name: assignment.value for name, assignment in ours.items()}
        after: Iterable[Assignment] = (
            _scripts_after(view, target, values)
            if target.reads is None
            else _files_after(view, target, values)
        )
        if target.name.startswith("unit:"):
            main = next((path for path in target.needs if view.exists(path)), "")
            parts = ((main,) if main else ()) + drop_ins(view, target.folders, ".conf")
            after = (*after, *unit_environment.overriding(view, parts, values))
        for name, last in {assignment.name: assignment for assignment in after}.items():
            other = assignments.get(name)
            if other is None or _weight(last, values) >= _weight(other, values):
                assignments[name] = last
    return assignments


def _weight(assignment: Assignment, ours: Mapping[str, str | None]) -> int:
    """Return the weight of a reader's value where several readers have one: a different value weighs more
    than an unknown one, and that more than the same value."""
    return 1 if assignment.value is None else 2 * (assignment.value != ours.get(assignment.name))


def _scripts_after(view: HostView, target: Target, ours: Mapping[str, str | None]) -> Iterator[Assignment]:
    """Yield the assignments of later scripts. A script that computes a name may set any of our variables."""
    environment = shell.Environment(dict(ours))
    for path in _after(view, target):
        made = read_script(view, path, environment)
        for name, assignment in made.items():
            yield assignment or Assignment(name, "", path)
        if environment.opaque:
            place = f"{path}:{environment.opaque}"
            yield from (Assignment(name, None, place) for name in ours if name not in made)


def _files_after(view: HostView, target: Target, ours: Mapping[str, str | None]) -> Iterator[Assignment]:
    values = dict(ours)
    for path in _after(view, target):
        text = text_or_empty(view, path)
        for statement in _statements(target, text, values):
            place = f"{path}:{statement.line}"
            if statement.effect is Effect.FORGETS:
                yield from (Assignment(name, "", place) for name in ours)
            elif statement.effect is Effect.UNSETS:
                yield Assignment(statement.name, "", place)
            elif statement.effect is Effect.SETS:
                values[statement.name] = statement.value
                yield Assignment(statement.name, statement.value, place)


def _statements(target: Target, text: str, values: Mapping[str, str | None]) -> Iterable[Statement]:
    """Return the statements of a text. Some languages use the values that were set before."""
    if target.reads is _environment_d:
        return env_file.read_environment_d(text, values)
    if target.reads is fish.read:
        return fish.read(text, values)
    assert target.reads is not None
    return target.reads(text)


def untold_later(
    view: HostView, names: Sequence[str], settings: Sequence[DesiredSetting]
) -> Iterable[Diagnostic]:
    """Yield a warning for each variable that files read after ours may or may not change."""
    later = later_assignments(view, names) if settings else {}
    for setting in settings:
        assignment = later.get(setting.name)
        if assignment is not None and assignment.value is None:
            hint = f"set it there to a plain value, or not at all: {setting.name}={setting.text}"
            yield untold(setting.name, assignment.source, hint)


def _after(view: HostView, target: Target) -> Iterator[str]:
    for path in drop_ins(view, target.folders, "" if target.others else splitext(target.path)[1]):
        name = basename(path)
        if name > basename(target.path) and re.match(target.others, name):
            yield path
    for path in target.behind:
        yield from drop_ins(view, (path,), ".fish") if view.is_dir(path) else (path,)


def activations(view: HostView, paths: AbstractSet[str], reason: str) -> Iterator[Activation]:
    """Yield the programs that make changes to these files take effect. A manager that is not running reads
    them when it starts."""
    if GENTOO.path in paths:
        yield env_update.activation(reason)
    if (SYSTEMD.path in paths or any(map(unit_file, paths))) and _managed(view):
        yield daemon_reload(view, reason)


def _managed(view: HostView) -> bool:
    return not view.offline and view.is_dir("/run/systemd/system")  # sd_booted(3)


def daemon_reload(view: HostView, reason: str) -> Activation:
    """Return the reload by which the manager reads its configuration again, including DefaultEnvironment=
    (systemd 252, src/core/main.c: `set_manager_defaults`); services get it when they are restarted."""
    commands = (("systemctl", "daemon-reload"),) if _managed(view) else ()
    return Activation("systemctl", commands, reason)


def check(view: HostView, names: Sequence[str], settings: Sequence[DesiredSetting]) -> list[Diagnostic]:
    """Check the files that programs generated from ours."""
    return [
        error(
            "RC3305",
            f"{path} does not have the value of {setting.name} in {target.path}",
            location=path,
            hint="run env-update by hand and read its output; later files in /etc/env.d win",
        )
        for target in chosen(names)
        for path in target.results
        for setting in settings
        if (assignment := read(view, target)[path].get(setting.name)) is None
        or assignment.value != setting.text
    ]
