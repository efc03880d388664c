"""A program without plugin."""


def main() -> None:
    print("hello")
