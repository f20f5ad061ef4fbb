"""Read from each kernel of a machine whether it has a module parameter, of which type, and whether it accepts
a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocmcfg.model.catalogue import Catalogue, Epoch, Parameter
from rocmcfg.model.facts import Kernel, Machine
from rocmcfg.model.regex import fullmatch
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import IllegalValue, ParamType, printed, stored

_TEXTS = frozenset({ParamType.CHARP, ParamType.STRING})


class Declaration(NamedTuple):
    """A parameter as one kernel declares it. `types` is empty if the kernel has no parameter of that name. It
    holds two types if the kernel itself was never read and the releases next to it disagree. `certain`: its
    presence is certain. `typed`: its type is certain; a guess never refuses a value. `asked`: the module
    itself declares it. `span`: the release stands for a range of kernels, because no kernel of the machine is
    known. `seen`: sysfs has it. `parameter` is what the catalogue knows of it.
    """

    release: str
    types: tuple[str, ...]
    variants: tuple[Epoch, ...] = ()
    certain: bool = True
    typed: bool = True
    asked: bool = False
    span: bool = False
    seen: bool = False
    parameter: Parameter | None = None

    @property
    def present(self) -> bool | None:
        return bool(self.types) or self.seen if self.certain else None

    @property
    def taints(self) -> bool:
        return bool(self.variants) and all(variant.taints for variant in self.variants)

    @property
    def defaults(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(variant.default for variant in self.variants)) if self.types else ()

    def reasons(self, text: str | None) -> list[str]:
        """Return why the parameter would refuse the text, for each of its types that would."""
        refusals = []
        for type in self.types:
            try:
                stored(_known(type), text)
            except IllegalValue as problem:
                refusals.append(str(problem))
                continue
            if _known(type) in _TEXTS:
                refusals += _stops(self.parameter, text or "")
        return refusals

    def reads_back(self, text: str | None) -> str:
        """Return the text that sysfs shows after the parameter was set; two texts if its type is unknown."""
        shown = []
        for type in self.types:
            try:
                shown.append(printed(ParamType(type), text or ""))
            except ValueError:  # refused, or a type that only the module knows
                continue
        return " or ".join(dict.fromkeys(shown)) if text is not None else ""

    def refuses(self, text: str | None) -> bool:
        """Return whether the parameter would refuse the text, whichever of its types is the right one."""
        return bool(self.types) and len(self.reasons(text)) == len(self.types)


def _stops(parameter: Parameter | None, text: str) -> list[str]:
    """Return why the driver starts no GPU with a text that the kernel accepts."""
    if parameter is None or not parameter.must_be or fullmatch(parameter.pattern, text) is not None:
        return []
    return [f"{text!r} is not {parameter.must_be}, and {parameter.module} starts no GPU with it"]


def _known(type: str) -> ParamType:
    try:
        return ParamType(type)
    except ValueError:
        return ParamType.STRING  # an array, or a type that only the module knows: the kernel takes any text


def declarations(
    id: str, machine: Machine, catalogue: Catalogue, seen: Callable[[str], bool | None] = lambda _: None
) -> list[Declaration]:
    """Return the declarations of a parameter by the machine's kernels, or by every kernel in the catalogue if
    none is known. Kernels about which nothing is known are left out. `seen` says whether sysfs of the running
    kernel has the parameter."""
    parameter = catalogue.parameters.get(id)
    if machine.kernels:
        declared = (_declaration(id, kernel, catalogue, seen) for kernel in machine.kernels)
        return [each._replace(parameter=parameter) for each in declared if each is not None]
    epochs: Sequence[Epoch] = parameter.epochs if parameter is not None else ()
    return [
        Declaration(f"{e.first} to {e.last}", (e.type.value,), (e,), span=True, parameter=parameter)
        for e in epochs
    ]


def _declaration(
    id: str, kernel: Kernel, catalogue: Catalogue, seen: Callable[[str], bool | None]
) -> Declaration | None:
    """Return a kernel's declaration. Its own modinfo takes precedence over the catalogue, and so does sysfs
    of the running kernel."""
    module, _, name = id.partition(".")
    parameter = catalogue.parameters.get(id)
    declared = kernel.parameters.get(module)
    standing = parameter.on(kernel.version) if parameter is not None else None
    variants = standing.variants if standing is not None else ()
    if declared is not None:
        own = declared.get(name)
        return Declaration(kernel.release, (own,) if own else (), variants, asked=True)
    there = seen(id) if kernel.running else None
    types = tuple(dict.fromkeys(variant.type.value for variant in variants))
    if kernel.dkms and parameter is not None and parameter.dkms_type is not None:
        types = (parameter.dkms_type.value,)
    if there is not None:
        types = types if there else ()
        return Declaration(kernel.release, types, variants, typed=not kernel.dkms, seen=there)
    if standing is not None:
        # A DKMS driver replaces the kernel's own, so the catalogue can only guess.
        certain, typed = standing.certain and not kernel.dkms, standing.typed and not kernel.dkms
        return Declaration(kernel.release, types, variants, certain, typed)
    if module in catalogue.modules():
        return Declaration(kernel.release, (), (), not kernel.dkms, typed=False)
    return None
