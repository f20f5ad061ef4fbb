"""A program for UEFI in place of a kernel: it prints with which options it was started, and switches off.

It may set a variable before, as bootctl would from Linux. Its code, put together by `as` from

    push rbx; push rsi; push rdi; sub rsp, 0x40
    mov rbx, rdx                    # EFI_SYSTEM_TABLE
    mov rdi, rcx                    # its own handle
    mov r9, [rip+data+0x20]         # the variable's size; 0: none is set
    test r9, r9; jz print
    lea rcx, [rip+data+0x40]; lea rdx, [rip+data+0x10]; mov r8d, 7
    lea rax, [rip+data+0x80]; mov [rsp+0x20], rax
    mov rax, [rbx+0x58]; call [rax+0x58]                # RuntimeServices->SetVariable
    print: mov rcx, rdi; lea rdx, [rip+data]; lea r8, [rsp+0x30]
    mov rax, [rbx+0x60]; call [rax+0x98]                # BootServices->HandleProtocol
    mov rdi, [rsp+0x30]                                 # EFI_LOADED_IMAGE_PROTOCOL
    mov rcx, [rbx+0x40]; lea rdx, [rip+data+0x280]; call [rcx+8]   # ConOut->OutputString
    mov rdx, [rdi+0x38]; test rdx, rdx; jz end          # LoadOptions
    mov ecx, [rdi+0x30]; mov word ptr [rdx+rcx], 0      # GRUB 2.12 ends them without a zero
    mov rcx, [rbx+0x40]; call [rcx+8]
    end: mov rcx, [rbx+0x40]; lea rdx, [rip+data+0x300]; call [rcx+8]
    mov rax, [rbx+0x58]; mov ecx, 2; xor edx, edx; xor r8d, r8d; xor r9d, r9d
    call [rax+0x68]                                     # ResetSystem(EfiResetShutdown)
    .org 0x200
    data:
"""

from __future__ import annotations

import struct
import uuid

from tests.support.hosts.pe import pe

_CODE = bytes.fromhex(
    "5356574883ec404889d34889cf4c8b0d0c0200004d85c97427488d0d20020000488d15e901000041b807000000488d054c"
    "0200004889442420488b4358ff50584889f9488d15b60100004c8d442430488b4360ff9098000000488b7c2430488b4b40"
    "488d1517040000ff5108488b57384885d274108b4f3066c7040a0000488b4b40ff5108488b4b40488d1570040000ff5108"
    "488b4358b90200000031d24531c04531c9ff5068"
)
_LOADED_IMAGE = uuid.UUID("5b1b31a1-9562-11d2-8e3f-00a0c969723b")
_LOADER = uuid.UUID("4a67b082-0a4c-41cf-b6c7-440b29bb8c4f")
BEGIN, END = "<<", ">>"


def printing(name: str, variable: str = "", value: str = "") -> bytes:
    """Prints <<name options>>. `variable` is one of the Boot Loader Interface, which gets `value`."""
    text = _utf16(value) if variable else b""
    data = _LOADED_IMAGE.bytes_le + _LOADER.bytes_le + struct.pack("<Q", len(text))
    data = data.ljust(0x40, b"\0") + _utf16(variable)
    data = data.ljust(0x80, b"\0") + text
    data = data.ljust(0x280, b"\0") + _utf16(f"{BEGIN}{name} ")
    data = data.ljust(0x300, b"\0") + _utf16(END)
    # systemd-stub 262 loads no section that is smaller in memory than in the file
    made = bytearray(pe({".text": (_CODE.ljust(0x200, b"\0") + data).ljust(0x600, b"\0")}))
    # GRUB takes an image of major version 1 or more for a kernel that the firmware can start
    struct.pack_into("<H", made, 64 + 24 + 44, 1)
    data_only, executable = struct.pack("<I", 0x40000040), struct.pack("<I", 0x60000060)
    return bytes(made).replace(data_only, executable, 1)


def _utf16(text: str) -> bytes:
    return f"{text}\0".encode("utf-16-le")
