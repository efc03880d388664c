"""Small pictures."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

import pytest
from PIL import Image

from host.records.attachments.drawing import DrawingLimits, draw_apart
from host.records.attachments.thumbnails import make_thumbnail
from tests.records.attachments.bench import picture


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _bomb(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(b"\0" * 1000))


@pytest.mark.parametrize(
    ("image", "size"),
    [
        pytest.param(picture(600, 300), (256, 128), id="png"),
        pytest.param(picture(20, 10), (20, 10), id="a small one stays small"),
        pytest.param(picture(600, 300, "JPEG"), (256, 128), id="jpeg"),
        pytest.param(picture(600, 300, "JPEG", "CMYK"), (256, 128), id="jpeg for printing"),
        pytest.param(picture(300, 600, "GIF", "P"), (128, 256), id="gif"),
        pytest.param(picture(300, 300, "GIF", "P", transparency=0), (256, 256), id="gif with transparency"),
        pytest.param(picture(300, 300, "WEBP", "RGBA"), (256, 256), id="webp"),
        pytest.param(picture(300, 300, "BMP"), (256, 256), id="bmp"),
        pytest.param(picture(300, 300, "TIFF", "I;16"), (256, 256), id="tiff of sixteen bits"),
        pytest.param(picture(300, 300, "PNG", "1"), (256, 256), id="black and white"),
        pytest.param(picture(9000, 1, "PNG"), (256, 1), id="a line"),
    ],
)
def test_images_get_a_small_png(image, size):
    """The longer side has at most 256 pixels."""
    made = make_thumbnail(BytesIO(image))

    assert made is not None
    with Image.open(BytesIO(made)) as found:
        assert (found.format, found.size) == ("PNG", size)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x89PNG\r\n\x1a\nrubbish", id="only the signature"),
        pytest.param(picture(600, 300)[:60], id="cut off"),
        pytest.param(_bomb(40_000, 40_000), id="a bomb that the library refuses"),
        pytest.param(_bomb(11_000, 10_000), id="a bomb that it warns of"),
        pytest.param(_bomb(8_000, 8_000), id="a bomb that it accepts"),
        pytest.param(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", id="a format that runs programs"),
        pytest.param(picture(8, 8, "ICO"), id="a format that is not on the list"),
    ],
)
def test_whatever_else_gets_none(content):
    """What is broken, too large or of another kind is no image; nothing is raised."""
    assert make_thumbnail(BytesIO(content)) is None


def test_what_an_image_says_of_itself_stays_in_it():
    """Place and maker of a photograph are not in its small picture, and its orientation is applied."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "maker-of-cameras"
    made = make_thumbnail(BytesIO(picture(600, 300, "JPEG", exif=exif, comment=b"secret-comment")))

    assert made is not None
    with Image.open(BytesIO(made)) as found:
        assert (found.size, dict(found.getexif())) == ((128, 256), {})
    assert b"maker-of-cameras" not in made
    assert b"secret-comment" not in made


def test_pictures_are_made_by_a_child_process_with_limits(tmp_path):
    """A picture comes back from it; one that takes more memory than it may have comes to nothing, and to no error."""
    (tmp_path / "image.png").write_bytes(picture(600, 300))
    with (tmp_path / "image.png").open("rb") as image:
        made = draw_apart(image)
        image.seek(0)
        refused = draw_apart(image, DrawingLimits(memory=16 * 1024**2))

    assert made is not None
    assert Image.open(BytesIO(made)).size == (256, 128)
    assert refused is None
