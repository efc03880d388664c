"""The part that differs between the versions."""


def glow() -> str:
    return "dim"
