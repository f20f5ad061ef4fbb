"""The use cases, as short functions over a host that is handed in. Start reading here.

    planning     facts in, plan out                     rocmcfg plan
    applying     plan, ask, carry out                   rocmcfg apply, the hook of a new kernel
    confirming   a trial that is kept                    rocmcfg confirm, rocmcfg-trial.service
    verifying    proof on the running kernel            rocmcfg verify
    undoing      the way back                           rocmcfg rollback, reject; recover, at every boot
    status       one look at a host                     rocmcfg status
    profiles     explained, validated, started, as text rocmcfg profile, env, run
    diagnosing   what a log and a host say              rocmcfg doctor
    reporting    a host for an issue tracker            rocmcfg report
    explaining   one name of the catalogue              rocmcfg explain
    linting      files that set something, judged       rocmcfg lint

A command imports the one that it needs, and no other: start-up time is a feature. `aftermath` tells how a
stopped command has left the host.
"""
