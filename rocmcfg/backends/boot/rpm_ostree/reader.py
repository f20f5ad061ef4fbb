"""The deployments of a host with rpm-ostree."""

from __future__ import annotations

from rocmcfg.backends.boot.ostree.deployments import Deployments

READER = Deployments("rpm-ostree")
