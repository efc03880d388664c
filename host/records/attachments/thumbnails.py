"""Small pictures of images: made of what anybody may have sent, so within limits of format, size and memory."""

from __future__ import annotations

import logging
from io import BytesIO
from typing import Any, BinaryIO, Final

from PIL import Image, ImageOps

_LOG = logging.getLogger("plugyard.attachments")

SIDE: Final = 256
"""Pixels of the longer side."""
FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
MOST_PIXELS: Final = 32 * 1000 * 1000
"""Of an image that is decoded; a larger JPEG is decoded at a smaller scale."""


def make_thumbnail(source: BinaryIO) -> bytes | None:
    """Return a small PNG of an image; ``None`` of what is no image, is broken, or would need too much memory."""
    try:
        return _draw(source)
    except Exception as error:  # noqa: BLE001 - decoders raise anything when they are given anything
        _LOG.info("no thumbnail: %s: %s", type(error).__name__, error)
        return None


def _draw(source: BinaryIO) -> bytes | None:
    with Image.open(source, formats=FORMATS) as image:
        image.draft("RGB", (2 * SIDE, 2 * SIDE))  # has an effect on JPEG alone
        width, height = image.size
        if width * height > MOST_PIXELS:
            _LOG.info("no thumbnail: %s x %s pixels are too many", width, height)
            return None
        image.load()
        small: Any = image
        if small.mode not in {"RGB", "RGBA", "L", "LA"}:
            has_alpha = small.mode in {"PA", "La", "RGBa"} or "transparency" in small.info
            small = small.convert("RGBA" if has_alpha else "RGB")
        small.thumbnail((SIDE, SIDE), reducing_gap=2.0)
        small = ImageOps.exif_transpose(small)
        # A picture of its own: nothing that the image says of its place, its time or its maker goes with it.
        plain = Image.new(small.mode, small.size)
        plain.paste(small)
        found = BytesIO()
        plain.save(found, "PNG")
        return found.getvalue()
