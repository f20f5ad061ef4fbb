"""Find values that someone else configured and that stop the driver whatever rocmcfg adds."""

from __future__ import annotations

from collections.abc import Iterable

from rocmcfg.judging.kernels import declarations
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Facts
from rocmcfg.state.values import Configured


def foreign_trouble(observed: Configured, facts: Facts, catalogue: Catalogue) -> Iterable[Diagnostic]:
    """Yield an error for each foreign value that would stop the driver. One bad value makes loading fail even
    if rocmcfg's value comes later."""
    modules = {*catalogue.modules(), *(module for kernel in facts.driven for module in kernel.parameters)}
    for karg in (*observed.options, *observed.kargs) if facts.driven else ():
        module, dot, _ = karg.key.partition(".")
        declared = declarations(karg.key, facts.machine, catalogue) if dot and module in modules else ()
        for kernel in declared:
            if kernel.typed and not karg.untold and kernel.refuses(karg.value):
                argument = karg.name.partition(".")[2] + ("" if karg.value is None else f"={karg.value}")
                yield error(
                    "RC3017",
                    f"{argument} stops {module} from loading on kernel {kernel.release}: "
                    + kernel.reasons(karg.value)[0],
                    location=karg.source,
                    hint="fix or remove it there: a valid value later does not help",
                )
