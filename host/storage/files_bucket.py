"""Files in a bucket of an S3-compatible store, through fsspec."""

from __future__ import annotations

import errno
import importlib.util
import io
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, BinaryIO, Final, cast
from uuid import uuid4

from host.config.files import Bucket
from host.storage.files_place import OWN_FOLDER, FileInfo, FileMissingError, FilesFailedError, failed

_LOG = logging.getLogger("plugyard.storage.files")

_PART: Final = 8 * 1024 * 1024
"""Bytes of one part of an upload; the least that the protocol knows is five MiB."""
_AHEAD: Final = 2 * 1024 * 1024
"""Bytes that reading fetches beyond what was asked for."""
_BUFFER: Final = 256 * 1024
_IF_NEW: Final[Mapping[str, Any]] = {"IfNoneMatch": "*"}
_CONFIG: Final[Mapping[str, Any]] = {
    "connect_timeout": 5,
    "read_timeout": 30,
    "retries": {"max_attempts": 2, "mode": "standard"},
    # Stores other than Amazon's do not all know the newer checksums.
    "request_checksum_calculation": "when_required",
    "response_checksum_validation": "when_required",
}


class BucketFiles:
    """Keeps files in a bucket."""

    # botocore has errors of its own, of classes that cannot be named without it.
    errors: tuple[type[Exception], ...] = (Exception,)
    remedy = "Check PLUGYARD_FILES_URL, the credentials and whether the store answers; 'plugyard doctor' tries it."

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._prefix = f"{bucket.prefix}/" if bucket.prefix else ""
        self._refuses_taken = True
        self.where = str(bucket)

    def explain(self, error: Exception) -> str:
        """Say what went wrong."""
        reason = " ".join(str(getattr(error, "strerror", None) or error).split()) or type(error).__name__
        return f"The file store {self.where} cannot be used: {reason.rstrip('.')}."

    def prepare(self) -> None:
        """Make sure that the library is there; it is loaded when the first file is used."""
        if importlib.util.find_spec("s3fs") is None:
            reason = f"Files are to be kept in {self.where}, and the library for that is missing."
            raise FilesFailedError(reason, "Run: pip install 'plugyard[s3]'")

    def check(self) -> None:
        """Write a small object and remove it."""
        self.prepare()
        key = self._key(f"{OWN_FOLDER}/{uuid4().hex}")
        try:
            self._call("put_object", Key=key, Body=b"plugyard")
        except FileNotFoundError:
            raise OSError(errno.ENOENT, "there is no such bucket") from None
        self._call("delete_object", Key=key)

    def save(self, path: str, content: BinaryIO) -> int:
        """Store a new object; a large one in parts, which become an object all at once."""
        key = self._key(path)
        piece = _piece(content)
        if len(piece) < _PART:
            self._call_if_new("put_object", path, Key=key, Body=piece)
            return len(piece)
        if self._exists(path):
            raise FileExistsError(path)
        upload = self._call("create_multipart_upload", Key=key)["UploadId"]
        try:
            size = 0
            parts: list[dict[str, Any]] = []
            while piece:
                number = len(parts) + 1
                part = self._call("upload_part", Key=key, UploadId=upload, PartNumber=number, Body=piece)
                parts.append({"PartNumber": number, "ETag": part["ETag"]})
                size += len(piece)
                piece = _piece(content)
            whole = {"Key": key, "UploadId": upload, "MultipartUpload": {"Parts": parts}}
            self._call_if_new("complete_multipart_upload", path, **whole)
        except BaseException:
            self._abort(key, upload)
            raise
        return size

    def open(self, path: str) -> BinaryIO:
        """Open an object for reading: it is fetched in pieces, as it is read."""
        info = self.info(path)
        file = self._fs.open(self._full(path), "rb", block_size=_AHEAD, size=info.size)
        return cast("BinaryIO", io.BufferedReader(_Raw(file, self, path), _BUFFER))

    def info(self, path: str) -> FileInfo:
        """Describe an object."""
        found = self._call("head_object", Key=self._key(path))
        return FileInfo(path, found["ContentLength"], _utc(found["LastModified"]), found.get("ETag", "").strip('"'))

    def move(self, old: str, new: str) -> None:
        """Copy an object within the store, then remove the old one."""
        self.info(old)
        if self._exists(new):
            raise FileExistsError(new)
        self._fs.cp_file(self._full(old), self._full(new))
        self.delete(old)

    def delete(self, path: str) -> None:
        """Remove an object."""
        self._call("delete_object", Key=self._key(path))

    def walk(self, prefix: str) -> Iterator[FileInfo]:
        """Iterate over the objects, a page of a thousand at a time."""
        for page in self._pages("list_objects_v2", {"ContinuationToken": "NextContinuationToken"}, prefix):
            for found in page.get("Contents", ()):
                path = found["Key"].removeprefix(self._prefix)
                if not path.endswith("/") and not path.startswith(f"{OWN_FOLDER}/"):
                    etag = found.get("ETag", "").strip('"')
                    yield FileInfo(path, found["Size"], _utc(found["LastModified"]), etag)

    def sweep(self, older_than: timedelta) -> int:
        """Give up uploads that were begun so long ago."""
        removed, limit = 0, datetime.now(UTC) - older_than
        markers = {"KeyMarker": "NextKeyMarker", "UploadIdMarker": "NextUploadIdMarker"}
        for page in self._pages("list_multipart_uploads", markers, ""):
            for upload in page.get("Uploads", ()):
                if _utc(upload["Initiated"]) < limit:
                    self._abort(upload["Key"], upload["UploadId"])
                    removed += 1
        return removed

    @cached_property
    def _fs(self) -> Any:
        self.prepare()
        import s3fs  # noqa: PLC0415 - optional, and slow to load

        bucket = self._bucket
        config = dict(_CONFIG)
        if bucket.addressing_style:
            config["s3"] = {"addressing_style": bucket.addressing_style}
        fs = s3fs.S3FileSystem(
            key=bucket.key or None,
            secret=bucket.secret or None,
            token=bucket.token or None,
            endpoint_url=bucket.endpoint_url or None,
            client_kwargs={"region_name": bucket.region} if bucket.region else {},
            config_kwargs=config,
            default_block_size=_PART,
            # What other processes write must be seen at once.
            use_listings_cache=False,
            skip_instance_cache=True,
        )
        fs.retries = 1  # botocore tries again by itself, and somebody is waiting for the answer
        return fs

    def _key(self, path: str) -> str:
        return f"{self._prefix}{path}"

    def _full(self, path: str) -> str:
        return f"{self._bucket.bucket}/{self._prefix}{path}"

    def _exists(self, path: str) -> bool:
        try:
            self.info(path)
        except FileNotFoundError:
            return False
        return True

    def _call(self, method: str, **arguments: Any) -> Any:
        return self._fs.call_s3(method, Bucket=self._bucket.bucket, **arguments)

    def _call_if_new(self, method: str, path: str, **arguments: Any) -> None:
        if self._refuses_taken:
            try:
                self._call(method, **arguments, **_IF_NEW)
            except OSError as error:
                if error.errno not in {errno.ENOSYS, errno.EINVAL} or isinstance(error, FileExistsError):
                    raise
                if self._exists(path):
                    raise FileExistsError(path) from None
                if error.errno == errno.EINVAL:
                    raise
                _LOG.warning("The store %s does not refuse to overwrite by itself; it is asked first.", self.where)
                self._refuses_taken = False
            else:
                return
        if self._exists(path):
            raise FileExistsError(path)
        self._call(method, **arguments)

    def _abort(self, key: str, upload: str) -> None:
        try:
            self._call("abort_multipart_upload", Key=key, UploadId=upload)
        except FileNotFoundError:
            return
        except Exception:  # noqa: BLE001 - botocore has errors of its own
            # What is left of it costs room until it is swept away, and nobody sees it.
            _LOG.warning("An upload to %s could not be given up", self.where, exc_info=True)

    def _pages(self, method: str, markers: Mapping[str, str], prefix: str) -> Iterator[Any]:
        where: dict[str, Any] = {"Prefix": self._key(prefix)}
        while True:
            page = self._call(method, **where)
            yield page
            if not page.get("IsTruncated"):
                return
            where |= {sent: page[got] for sent, got in markers.items() if page.get(got)}


class _Raw(io.RawIOBase):
    """A file of the store, whose errors are ours."""

    def __init__(self, file: Any, place: BucketFiles, path: str) -> None:
        self._file = file
        self._place = place
        self._path = path

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._read_again(len(buffer))
        except FileNotFoundError:  # it was deleted after it was opened
            raise FileMissingError(f"There is no file '{self._path}'.") from None
        except Exception as error:  # noqa: BLE001 - botocore has errors of its own
            raise failed(self._place, error) from None
        buffer[: len(piece)] = piece
        return len(piece)

    def _read_again(self, size: int) -> bytes:
        # A connection may end in the middle of an object, which botocore has answered already.
        try:
            return bytes(self._file.read(size))
        except FileNotFoundError:
            raise
        except Exception:  # noqa: BLE001 - as above
            return bytes(self._file.read(size))

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _piece(content: BinaryIO) -> bytes:
    """Read a part; what is read from may give less at a time than it is asked for."""
    first = content.read(_PART)
    if not first or len(first) == _PART:
        return first
    piece = bytearray(first)
    while len(piece) < _PART and (more := content.read(_PART - len(piece))):
        piece += more
    return bytes(piece)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
