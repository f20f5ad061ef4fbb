class Report:
    _KNOWN_NOTES = {
        'amdgpu.runpm=0': 'AMD GPU runtime PM disabled',
        'amdgpu.dcdebugmask=0x10': 'PSR disabled',
        'amdgpu.ppfeaturemask=': 'power features overridden',
        'i915.enable_psr=0': 'Intel PSR disabled',
    }

    def notes(self, cmdline):
        return [t for k, t in self._KNOWN_NOTES.items() if k in cmdline]
