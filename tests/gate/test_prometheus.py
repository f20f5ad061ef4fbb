"""The metrics and the alerts, held against the real programs: node_exporter serves the file, Prometheus
scrapes it and evaluates the rules, promtool checks both."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gate.golden_hosts import broken, instinct_host
from tests.support.boots import reboot
from tests.support.program import SOURCE, rocmcfg
from tests.support.tools import HANG, require_tool

RULES = SOURCE / "packaging/prometheus/rocmcfg.rules.yml"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@contextmanager
def running(*command: str | Path, log: Path) -> Iterator[str]:
    """Start a server on a free port, which the kernel chooses; the address is what its log says."""
    argv = (*command, "--web.listen-address=127.0.0.1:0")
    with log.open("wb") as stream, subprocess.Popen(argv, stdout=stream, stderr=stream) as process:

        def listening() -> re.Match[str] | None:
            assert process.poll() is None, log.read_text()
            return re.search(r'"Listening on" address=(\S+:\d+)\s', log.read_text())

        try:
            yield f"http://{until(listening)[1]}"
            assert process.poll() is None, log.read_text()
        finally:
            process.kill()


def answer(url: str) -> str:
    with _DIRECT.open(url, timeout=10) as response:
        text: str = response.read().decode()
        return text


def until(look: Callable[[], Any]) -> Any:
    """What is seen as soon as it is there; nothing is measured by the time that it takes."""
    end = time.monotonic() + HANG
    while True:
        try:
            if seen := look():
                return seen
        except (OSError, urllib.error.URLError):
            pass
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


class Monitoring:
    """A node_exporter that serves a folder, and a Prometheus that scrapes it each second."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        exporter = require_tool("prometheus-node-exporter", "prometheus-node-exporter")
        prometheus = require_tool("prometheus", "prometheus")
        self.textfiles = folder / "textfiles"
        self.textfiles.mkdir()
        only = ("--collector.disable-defaults", "--collector.textfile")
        serving = (exporter, *only, f"--collector.textfile.directory={self.textfiles}")
        self.exporter = stack.enter_context(running(*serving, log=folder / "exporter.log"))
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {"job_name": "node", "static_configs": [{"targets": [self.exporter.removeprefix("http://")]}]}
            ],
        }
        (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
        scraping = (
            prometheus,
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
        )
        self.prometheus = stack.enter_context(running(*scraping, log=folder / "prometheus.log"))

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        words = urllib.parse.urlencode({"query": expression})
        answered = json.loads(answer(f"{self.prometheus}/api/v1/query?{words}"))["data"]["result"]
        return [(row["metric"], float(row["value"][1])) for row in answered]

    def alerts(self) -> set[str]:
        """The names of the alerts that wait or fire."""
        answered = json.loads(answer(f"{self.prometheus}/api/v1/alerts"))["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in answered}


@pytest.fixture
def monitoring(tmp_path: Path) -> Iterator[Monitoring]:
    folder = tmp_path / "monitoring"
    folder.mkdir()
    with ExitStack() as stack:
        yield Monitoring(folder, stack)


def test_a_real_prometheus_scrapes_them_from_a_real_node_exporter(
    tmp_path: Path, monitoring: Monitoring
) -> None:
    root, golden = instinct_host(tmp_path / "host"), tmp_path / "golden.json"
    rocmcfg("facts", "--save", golden, "--root", root)
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--yes", "--root", root).code == 0
    verify = ("verify", "--quiet", "--root", root, "--metrics", monitoring.textfiles / "rocmcfg.prom")
    assert rocmcfg(*verify).code == 6

    until(lambda: monitoring.query('rocmcfg_status{status="pending"} == 1'))
    assert monitoring.query("node_textfile_scrape_error")[0][1] == 0
    assert monitoring.query('rocmcfg_settings{status="pending"}')[0][1] == 1
    labels, value = monitoring.query("rocmcfg_info")[0]
    assert value == 1
    assert labels["version"]
    assert not monitoring.query("rocmcfg_golden_differences"), "nothing was compared"
    until(lambda: "RocmcfgPending" in monitoring.alerts())

    reboot(root)
    broken(root)
    assert rocmcfg(*verify, "--against", golden).code == 3
    until(lambda: monitoring.query('rocmcfg_golden_differences{severity="error"} > 0'))
    until(lambda: {"RocmcfgNotInEffect", "RocmcfgDiffersFromGoldenHost"} <= monitoring.alerts())
    facts = {labels["fact"] for labels, _ in monitoring.query("rocmcfg_golden_difference == 1")}
    assert {"link_width", "numa_balancing"} <= facts
    rules = json.loads(answer(f"{monitoring.prometheus}/api/v1/rules"))["data"]["groups"][0]["rules"]
    assert {rule["health"] for rule in rules} == {"ok"}, rules


def test_promtool_accepts_the_metrics_of_a_comparison(tmp_path: Path) -> None:
    promtool = require_tool("promtool", "prometheus")
    root, golden, file = instinct_host(tmp_path / "host"), tmp_path / "golden.json", tmp_path / "rocmcfg.prom"
    rocmcfg("facts", "--save", golden, "--root", root)
    broken(root)
    rocmcfg("verify", "--root", root, "--against", golden, "--metrics", file, "--quiet")
    text = file.read_text()
    assert "rocmcfg_golden_difference{" in text
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_promtool_accepts_the_alerts() -> None:
    promtool = require_tool("promtool", "prometheus")
    checked = subprocess.run([promtool, "check", "rules", RULES], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "5 rules found" in checked.stdout


def test_each_alert_fires_when_it_should_and_not_before(tmp_path: Path) -> None:
    """promtool evaluates the rules over made-up series: minutes of one host, then what fires at a minute."""
    promtool = require_tool("promtool", "prometheus")
    series = {
        'rocmcfg_status{instance="a",status="not_in_effect"}': "0 1x20",
        'rocmcfg_status{instance="a",status="pending"}': "1x1500",
        'rocmcfg_golden_difference{instance="a",fact="link_width"}': "1x20",
        'rocmcfg_verify_success{instance="a"}': "0x40",
        'rocmcfg_verify_timestamp_seconds{instance="a"}': "0x1500",
    }
    fires = {
        "RocmcfgNotInEffect": (5, 15),
        "RocmcfgPending": (1439, 1441),
        "RocmcfgDiffersFromGoldenHost": (5, 15),
        "RocmcfgCannotVerify": (20, 35),
        "RocmcfgSilent": (59, 61),
    }
    tests = [{"eval_time": f"{at}m", "alertname": name, "exp_alerts": []} for name, (at, _) in fires.items()]
    rules = RULES.read_text()
    assert {*fires} == {line.split(": ")[1] for line in rules.splitlines() if "- alert: " in line}
    late = [f"count(ALERTS{{alertname='{name}',alertstate='firing'}})" for name in fires]
    expressions = [
        {"expr": expr, "eval_time": f"{at}m", "exp_samples": [{"labels": "{}", "value": 1}]}
        for expr, (_, at) in zip(late, fires.values(), strict=True)
    ]
    case = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": tests,
        "promql_expr_test": expressions,
    }
    document = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [case]}
    file = tmp_path / "test.yml"
    file.write_text(json.dumps(document))
    tested = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr
