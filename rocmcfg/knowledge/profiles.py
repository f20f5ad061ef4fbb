"""Find, read and validate profiles. All problems of all files are reported at once, with their lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence

from rocmcfg.host.files import read_callers_file, read_own_file
from rocmcfg.host.state_dir import LOCAL_PROFILES
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.knowledge import compiled, profile_document, toml
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error, info
from rocmcfg.model.facts import Gpu
from rocmcfg.model.profile import Doubt, Profile, Use
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import closest

SCHEMA = "/usr/share/rocmcfg/profile.schema.json"  # packages install it
_MAX_BYTES = 1 << 20  # 1 MiB; the longest shipped profile has a hundredth of that
_MAX_EXTENDS = 16
_NAMED = 20  # names in a message; more would not help


class NoSuchProfile(RocmcfgError):
    def __init__(
        self, name: str, candidates: Sequence[str], near: Sequence[str] = (), reason: str = ""
    ) -> None:
        near = (*closest(name, list(candidates)), *near)
        # profiles of GPUs and their families come before those for a single purpose, such as debug-gemm
        candidates = sorted(
            candidates, key=lambda candidate: "-" in candidate and os.path.isfile(shipped_path(candidate))
        )
        more = f" and {len(candidates) - _NAMED} more" if len(candidates) > _NAMED else ""
        hint = f"did you mean {', '.join(near)}? " if near else ""
        summary = f"no profile has the name {name!r}"
        detail = reason or "known: " + ", ".join(candidates[:_NAMED]) + more
        super().__init__(
            error("RC1010", summary, detail=detail, hint=hint + "`rocmcfg profile list` shows all profiles")
        )


def shipped_dir() -> str:
    """Return the folder of the shipped profiles: in the package (a wheel), next to it (its source tree), or
    under the prefix of usr/lib/rocmcfg/rocmcfg (a distribution's package, installed or only unpacked)."""
    package = compiled.PACKAGE
    inside, source = f"{package}/profiles", f"{os.path.dirname(package)}/profiles"
    shared = os.path.normpath(f"{package}/../../../share/rocmcfg/profiles")
    return next((p for p in (inside, source, shared) if os.path.isdir(p)), inside)


def names(view: HostView) -> tuple[str, ...]:
    """Return all profile names, including local ones, sorted."""
    files = [*os.listdir(shipped_dir()), *view.names(LOCAL_PROFILES)]
    return tuple(sorted({name[:-5] for name in files if name.endswith(".toml")}))


def shipped_path(name: str) -> str:
    return f"{shipped_dir()}/{name}.toml"


def load(view: HostView, wanted: Iterable[str]) -> tuple[Profile, ...]:
    """Return the named profiles with `extends` resolved. A name with a slash or `.toml` is a file of the
    caller's. Raises NoSuchProfile, or RocmcfgError with all mistakes in all of them."""
    loaded, problems = read(view, wanted)
    if problems:
        raise RocmcfgError(*problems)
    return loaded


def read(view: HostView, wanted: Iterable[str]) -> tuple[tuple[Profile, ...], tuple[Diagnostic, ...]]:
    """Return the valid parts of the named profiles, and all mistakes. With a mistake the profiles may only be
    used to look for more mistakes. Raises NoSuchProfile."""
    problems: list[Diagnostic] = []
    loaded = []
    for name in dict.fromkeys(wanted):
        profile = _complete(view, name, (), problems)
        if profile is not None:
            problems.extend(profile_document.mismatched_parameters(profile))
            loaded.append(profile_document.with_known_values(profile))
    return tuple(loaded), tuple(dict.fromkeys(problems))


def standing_in(view: HostView, wanted: Iterable[str]) -> list[Diagnostic]:
    """Return a remark for each local profile with the name of a shipped one, which is then not read."""
    return [
        info(
            "RC1016",
            f"the local profile {name} replaces the shipped one of the same name",
            location=local_path(name),
            hint="rename it to use the shipped one, or to add to it with `extends`",
        )
        for name in wanted
        if not is_path(name) and view.exists(local_path(name)) and os.path.isfile(shipped_path(name))
    ]


def for_gpus(view: HostView, gpus: Iterable[Gpu]) -> tuple[str, ...]:
    """Return the names for `--profile auto`: for each GPU the profile of its own name, or else those that
    list it and extend none."""
    return tuple(dict.fromkeys(name for names in for_each(view, gpus) for name in names))


def for_each(view: HostView, gpus: Iterable[Gpu]) -> list[tuple[str, ...]]:
    """Return the names for each GPU, in the order of the GPUs; none for a GPU without a profile."""
    available = names(view)
    chosen: list[tuple[str, ...]] = []
    general: list[Profile] = []
    for gpu in gpus:
        if gpu.gfx in available:
            chosen.append((gpu.gfx,))
            continue
        if not general:  # a local profile is only used by its name, and may be broken
            shipped = load(view, [name for name in available if not view.exists(local_path(name))])
            general = [p for p in shipped if p.use is Use.AUTO and not p.extends]
        chosen.append(tuple(p.name for p in general if p.fits(gpu.gfx, gpu.integrated)))
    return chosen


def _complete(
    view: HostView, name: str, chain: tuple[str, ...], problems: list[Diagnostic]
) -> Profile | None:
    file = _locate(view, name)
    if isinstance(file, Diagnostic):
        problems.append(file)
        return None
    called = label(name)
    profile = _read(file, called, problems)
    if profile is None or not profile.extends:
        return profile
    at = _places(file)(("extends",))
    if profile.extends in (*chain, called):
        summary = f"profile {called} extends itself: {' → '.join((*chain, called, profile.extends))}"
        problem = error("RC1011", summary, location=at, hint="remove one `extends`")
    elif len(chain) >= _MAX_EXTENDS:
        summary = f"profile {called} is at the end of a chain of more than {_MAX_EXTENDS} `extends`"
        problem = error("RC1014", summary, location=at, hint="copy the settings into fewer profiles")
    else:
        try:
            base = _complete(view, profile.extends, (*chain, called), problems)
        except NoSuchProfile as missing:
            cause = missing.diagnostics[0]
            problem = cause._replace(summary=f"extends: {cause.summary}", location=at)
        else:
            return _extend(profile, base, problems) if base else profile_document.with_known_values(profile)
    problems.append(problem)
    return profile_document.with_known_values(profile)


def _extend(profile: Profile, base: Profile, problems: list[Diagnostic]) -> Profile:
    own = {setting.id: setting for setting in profile.settings}
    for setting in base.settings:
        other = own.get(setting.id)
        if other is not None and other.value != setting.value:
            summary = f"{setting.id} is {other.value} here and {setting.value} in the profile it extends"
            detail = f"the other value is set at {setting.location}"
            hint = "`extends` only adds settings; copy the profile to change one of its values"
            problems.append(error("RC1012", summary, location=other.location, detail=detail, hint=hint))
    inherited = [s._replace(profile=profile.name) for s in base.settings if s.id not in own]
    return profile._replace(
        gfx=profile.gfx or base.gfx,
        settings=(*inherited, *profile.settings),
        notes=(*base.notes, *profile.notes),
        apu=base.apu if profile.apu is None else profile.apu,
        parameters=tuple({p.name: p for p in (*base.parameters, *profile.parameters)}.values()),
        doubts=(*base.doubts, *profile.doubts),
    )


def is_path(name: str) -> bool:
    """Return whether the name is a file of the caller's, not the name of a profile."""
    return "/" in name or name.endswith(".toml")


def label(name: str) -> str:
    """Return the name of a profile; for a file, its name without the suffix."""
    return os.path.splitext(os.path.basename(name))[0] if is_path(name) else name


class _File(NamedTuple):
    """The file of a profile. `place` names it in messages; `doubt` is the reason why root must not trust
    it."""

    content: bytes
    place: str
    shipped: bool = False
    doubt: Doubt | None = None


def _locate(view: HostView, name: str) -> _File | Diagnostic:
    """Return the file of a profile, or the error why it cannot be used. Raises NoSuchProfile."""
    unwritable = profile_document.unwritable_name(name)
    if unwritable is not None and (is_path(name) or "\0" not in name):  # no profile can have a NUL
        return unwritable
    if is_path(name):
        content, why = read_callers_file(name, _MAX_BYTES)
        if content is None:
            return _unreadable(name, "it is not a regular file")
        doubt = Doubt(name, why, whole=False, binds=os.geteuid() == 0) if why else None
        return _bounded(_File(content, name, doubt=doubt))
    if name and "\0" not in name:
        local = local_path(name)
        try:
            content = view.read(local)
        except Unreadable as problem:  # one broken file must not hide the others
            return _unreadable(local, problem.reason)
        if content is not None:
            return _bounded(_File(content, local, doubt=_of_local(view, local)))
        shipped = shipped_path(name)
        if os.path.isfile(shipped):
            return _File(read_own_file(shipped), f"{name}.toml", shipped=True)
    raise NoSuchProfile(
        name, [candidate for candidate in names(view) if profile_document.unwritable_name(candidate) is None]
    )


def _of_local(view: HostView, place: str) -> Doubt | None:
    """Return why root must not follow a local profile, or None. Call this after the profile was read: a user
    who could write it controls a part of its path, which is found weak whatever they change meanwhile."""
    try:
        weak = view.weakness(place)
        why = weak.words(here=not view.offline) if weak is not None else ""
    except Unreadable as problem:
        why = f"cannot determine who may change it: {problem.reason}"
    return Doubt(place, why, whole=True, binds=True) if why else None


def _bounded(file: _File) -> _File | Diagnostic:
    return file if len(file.content) <= _MAX_BYTES else _unreadable(file.place, "it is larger than 1 MiB")


def _unreadable(place: str, reason: str) -> Diagnostic:
    hint = "use a readable regular file of at most 1 MiB"
    return error("RC1006", f"{place} cannot be read as a profile: {reason}", location=place, hint=hint)


def _places(file: _File) -> Callable[[Sequence[str | int]], str]:
    """Return a function from a key path to file and line."""
    lines = toml.key_lines(file.content.decode())
    return lambda path: f"{file.place}:{toml.line_of(lines, path)}"


def _read(file: _File, name: str, problems: list[Diagnostic]) -> Profile | None:
    wrong: list[profile_document.Wrong] = []
    document = compiled.known(f"profiles/{file.place}", file.content) if file.shipped else None
    if document is None:
        parsed = toml.parse(file.content, file.place)
        if isinstance(parsed, Diagnostic):
            problems.append(parsed)
            return None
        from rocmcfg.knowledge.profile_schema import validate

        document, wrong = validate(parsed)
    located = _places(file)
    problems.extend(
        error("RC1003", f"{'.'.join(map(str, path))}: {message}", location=located(path), hint=hint)
        for path, message, hint in wrong
    )
    if document is None:
        return None
    profile = profile_document.profile(document, located, name, file.doubt)
    broken = {str(path[1]) for path, _, _ in wrong if path[:1] == ("parameters",) and len(path) > 1}
    settings = [s for s in profile.settings if s.multiple_of not in broken]
    used = {s.multiple_of for s in settings}
    # the setting that used a parameter may be among the mistakes
    parameters = tuple(p for p in profile.parameters if p.name in used or not wrong)
    problems.extend(profile_document.too_many(settings, file.place))
    settings = settings[: profile_document.MOST]
    problems.extend(profile_document.duplicates(settings))
    problems.extend(profile_document.unknown_fixes(settings))
    return profile._replace(
        settings=tuple(settings), parameters=parameters, location=file.place, shipped=file.shipped
    )


def local_path(name: str) -> str:
    return os.path.join(LOCAL_PROFILES, f"{name}.toml")


def skeleton(extends: str, gfx: Sequence[str], *, schema: bool = False) -> bytes:
    """Return a new profile with these values, and the format in comments. `schema`: name the host's copy of
    the schema, for the TOML language server of editors (taplo), which stops at a missing one."""
    text = read_own_file(f"{compiled.PACKAGE}/knowledge/templates/profile.toml").decode()
    targets = f"gfx = {json.dumps(list(gfx))}" if gfx else '# gfx = ["gfx1201"]     # without it: any GPU'
    base = (
        f"extends = {json.dumps(extends)}" if extends else '# extends = "rdna4"     # adds to another profile'
    )
    text = f"#:schema file://{SCHEMA}\n{text}" if schema else text
    return text.replace("@GFX@", targets).replace("@EXTENDS@", base).encode()
