"""The deployments of a bootc host."""

from __future__ import annotations

from rocmcfg.backends.boot.ostree.deployments import Deployments

READER = Deployments("bootc")
