"""Tests of rocmcfg."""
