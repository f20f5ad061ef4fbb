"""The use cases, as short functions over a host that is passed in. Start reading here.

    planning     facts in, plan out                       rocmcfg plan
    applying     plan, ask, carry out                     rocmcfg apply, the hook of a new kernel
    taking_over  move the owner's settings to a profile   rocmcfg take-over
    confirming   keep a trial                             rocmcfg confirm, rocmcfg-trial.service
    trying       run a program again and again            rocmcfg try, tries
    rebooting    go on with a try in each boot            rocmcfg try --reboots, rocmcfg-try.service
    verifying    compare with the running kernel          rocmcfg verify
    undoing      roll back                                rocmcfg rollback, reject; recover, at every boot
    status       describe a host at a glance              rocmcfg status
    profiles     explain, validate, create, print         rocmcfg profile, env, run
    diagnosing   diagnose a log and a host                rocmcfg doctor
    reporting    describe a host for an issue tracker     rocmcfg report
    explaining   explain one name of the catalogue        rocmcfg explain
    linting      judge files that set something           rocmcfg lint
    drafting     turn an unknown fault into an issue      rocmcfg knowledge draft
    rendering    settings for a system built elsewhere    rocmcfg render
    sharing      bundles of knowledge                     rocmcfg knowledge

A command imports the one that it needs, and no other, because start-up time matters. `aftermath` determines
how a stopped command has left the host.
"""
