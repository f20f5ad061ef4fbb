"""Filters for the templates of the files that rocmcfg writes: `{{ value | quoted }}`."""

from __future__ import annotations

import shlex

from rocmcfg.model.desired import DesiredSetting

__all__ = ["doubled_percent", "quoted", "reason"]


def quoted(word: str) -> str:
    """Return a word that every POSIX shell reads as itself."""
    return shlex.quote(word)


def doubled_percent(text: str) -> str:
    """Return a text in which systemd finds no specifier."""
    return text.replace("%", "%%")


def reason(setting: DesiredSetting) -> str:
    """Return a comment with the reason for a setting, without the comment character."""
    # a backslash at the end would join the next line to the comment
    because = setting.because.rstrip("\\ ")
    return f"{setting.id}: {because}" if because else setting.id
