"""Make a small picture in a process of its own: whatever an image does to its decoder, the host goes on.

The image is the standard input, the small picture the standard output: empty where there is none. A small file can make
a decoder take gigabytes, and decoders are written in a language in which one mistake ends the process.
"""

from __future__ import annotations

import sys

from host.children.limits import restrain
from host.records.attachments.thumbnails import make_thumbnail


def main() -> None:
    """Draw and end."""
    parent, memory, cpu = (int(text) for text in sys.argv[1:])
    restrain(parent, memory=memory, cpu=cpu)
    sys.stdout.buffer.write(make_thumbnail(sys.stdin.buffer) or b"")


if __name__ == "__main__":
    main()
