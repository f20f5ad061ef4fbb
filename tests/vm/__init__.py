"""Real Debian guests under QEMU: the real kernel, the real amdgpu module, the real GRUB, no GPU needed.

Must not be used by anything but tests: the package boots machines and installs Debian packages.
"""
