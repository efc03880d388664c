"""Delimited text: CSV and TSV in the encodings and with the separators that programs write."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import BinaryIO, Final

from charset_normalizer import from_bytes

from host.importing.reading.table import DataFileError

_CHUNK: Final = 256 * 1024
_SAMPLE: Final = 64 * 1024
_SAMPLE_LINES: Final = 30
_SEPARATORS: Final = (",", ";", "\t", "|")
_LARGEST_FIELD: Final = 1024 * 1024
# The longer marks first: that of UTF-32 begins like that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WESTERN: Final = "cp1252"
_FOREIGN: Final = [
    "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256", "cp874",
]  # fmt: skip
"""Encodings that programs write where people do not write in Latin letters."""
_SIGNATURES: Final = (
    (b"PK\x03\x04", "a spreadsheet or a ZIP archive"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet of an old format"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "a compressed file"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
)


def read_delimited(content: BinaryIO, *, tabs: bool) -> Generator[Sequence[str]]:
    """Iterate over the lines of a text file.

    The encoding is that of the byte order mark, else UTF-8 where all of it is that, else what the text looks like. The
    separator is the one by which the first lines fall into equally many cells.

    Args:
        content: can be read more than once.
        tabs: whether the name says that tabs are the separator; that is believed where the first lines hold any.

    Raises:
        DataFileError: this is no text, or one that cannot be taken apart.

    """
    encoding = _encoding(content)
    content.seek(0)
    text = io.TextIOWrapper(content, encoding=encoding, newline="")
    try:
        sample = text.read(_SAMPLE)
        if "\0" in sample:
            raise _no_text("it holds null characters")
        separator = "\t" if tabs and "\t" in sample else _separator(sample)
        text.seek(0)
        yield from _lines(text, separator)
    except UnicodeError:
        raise _no_text("its encoding is unknown") from None
    finally:
        text.detach()  # the file is its owner's to close


def _lines(text: io.TextIOWrapper, separator: str) -> Iterator[Sequence[str]]:
    csv.field_size_limit(_LARGEST_FIELD)
    reader = csv.reader(text, delimiter=separator, strict=True)
    try:
        for cells in reader:
            if any("\0" in cell for cell in cells):
                raise _no_text(f"line {reader.line_num} holds null characters")
            yield cells
    except csv.Error as error:
        raise DataFileError(
            f"Line {reader.line_num} cannot be read: {error}. Text in quotation marks must end with one, and the "
            "marks within it must be doubled."
        ) from None


def _no_text(reason: str) -> DataFileError:
    return DataFileError(f"This is no text file: {reason}. Save the table as CSV in UTF-8, or as XLSX, and try again.")


def _encoding(content: BinaryIO) -> str:
    content.seek(0)
    head = content.read(_SAMPLE)
    for signature, what in _SIGNATURES:
        if head.startswith(signature):
            raise DataFileError(f"This is {what}, not text. Give it the name ending of its format, or save it as CSV.")
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if b"\0" in head:
        return _wide(head)
    fault = _first_fault(content)
    return "utf-8" if fault is None else _guess(content, fault)


def _wide(head: bytes) -> str:
    # Text of two bytes a sign has its null bytes in every other place.
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > len(head) // 5 and not even:
        return "utf-16-le"
    if even > len(head) // 5 and not odd:
        return "utf-16-be"
    raise _no_text("it holds null characters")


def _first_fault(content: BinaryIO) -> int | None:
    """Return where the first byte stands that is no UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    content.seek(0)
    position = 0
    while True:
        piece = content.read(_CHUNK)
        try:
            decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            return max(position + error.start, 0)
        if not piece:
            return None
        position += len(piece)


def _guess(content: BinaryIO, fault: int) -> str:
    content.seek(max(fault - _SAMPLE // 2, 0))
    sample = content.read(_SAMPLE)
    wanted = _WESTERN
    if sum(byte > 127 for byte in sample) * 2 > sum(chr(byte).isalpha() for byte in sample if byte < 128):  # noqa: PLR2004
        # Hardly any letter of these is one of ours, so it is another alphabet; guessing within ours is worth little.
        found = from_bytes(sample, cp_isolation=_FOREIGN).best()
        wanted = found.encoding if found is not None else _WESTERN
    return wanted if _decodes(content, wanted) else "latin-1"


def _decodes(content: BinaryIO, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    content.seek(0)
    try:
        while piece := content.read(_CHUNK):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _separator(sample: str) -> str:
    """Return the separator by which the most lines have as many cells as the header, and that more than one."""
    best, best_score = ",", (0.0, 0)
    for separator in _SEPARATORS:
        lengths = _lengths(sample, separator)
        if not lengths or lengths[0] < 2:  # noqa: PLR2004 - nothing is separated
            continue
        score = (lengths.count(lengths[0]) / len(lengths), lengths[0])
        if score > best_score:
            best, best_score = separator, score
    return best


def _lengths(sample: str, separator: str) -> list[int]:
    whole = len(sample) < _SAMPLE
    lines = sample.splitlines(keepends=True)
    reader = csv.reader(lines if whole else lines[:-1] or lines, delimiter=separator)
    try:
        return [len(cells) for cells in islice((cells for cells in reader if cells), _SAMPLE_LINES)]
    except csv.Error:
        return []
