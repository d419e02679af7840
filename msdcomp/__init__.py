"""Compose MSD capability registries: a pure fold over untrusted manifests."""
