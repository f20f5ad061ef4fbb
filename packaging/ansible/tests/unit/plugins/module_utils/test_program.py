# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT

import os

import pytest
from ansible.module_utils.common.process import get_bin_path
from ansible_collections.rocmcfg.amdgpu.plugins.module_utils import program


class Failed(Exception):
    pass


class Module(object):
    """As much of an AnsibleModule as a Program takes hold of."""

    def __init__(self, **params):
        self.params = dict({"executable": None, "root": None}, **params)
        self.ran = []

    def get_bin_path(self, name, opt_dirs=None):
        try:
            return get_bin_path(name, opt_dirs=opt_dirs)
        except ValueError:
            return None

    def run_command(self, words, **options):
        self.ran.append((words, options))
        return 0, "rocmcfg 0.1.0\n", ""

    def fail_json(self, **results):
        raise Failed(results)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A directory on an ordinary user's PATH, and one of the system."""
    both = tmp_path / "path", tmp_path / "other"
    for place in both:
        place.mkdir()
    monkeypatch.setenv("PATH", str(both[0]))
    monkeypatch.setattr(program, "DIRECTORIES", (str(both[1]),))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return both


def put(place):
    path = place / "rocmcfg"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_what_is_on_the_path_comes_first(places):
    first, second = put(places[0]), put(places[1])
    assert program.Program.of(Module()).path == first
    os.remove(first)
    assert program.Program.of(Module()).path == second


def test_root_runs_no_program_of_the_callers_path(places, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    put(places[0])
    assert program.Program.of(Module(), required=False) is None
    second = put(places[1])
    module = Module()
    assert program.Program.of(module).path == second
    assert [options["environ_update"]["PATH"] for _words, options in module.ran] == [str(places[1])]


@pytest.mark.usefixtures("places")
def test_where_there_is_none_the_task_fails_as_every_failure_does():
    with pytest.raises(Failed) as failed:
        program.Program.of(Module())
    results = failed.value.args[0]
    assert "Install it first" in results["msg"]
    assert results["rc"] is None
    assert (results["rolled_back"], results["recovery_required"]) == (False, False)
    assert results["diagnostics"] == []
    assert program.Program.of(Module(), required=False) is None


def test_ansible_puts_nothing_for_a_dollar_sign(places):
    put(places[0])
    module = Module()
    program.Program.of(module)
    assert [options["expand_user_and_vars"] for _words, options in module.ran] == [False]
