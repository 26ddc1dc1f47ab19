"""Errors of the storage of a run, in the user's words: disk full, permission denied, no bucket."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from smartsearch.errors import InputError, SmartsearchError


class StorageError(SmartsearchError):
    """A run's folder that cannot be written or listed; `kind` says why."""

    kind = "output"


class _Fault(NamedTuple):
    """One kind of fault, its message, and the error numbers or words that tell it."""

    kind: str
    said: str
    hint: str
    numbers: tuple[int, ...] = ()
    words: str = r"(?!)"


_PASSING = ("disk_full", "unreachable")
"""Kinds that are worth another try."""
_ROOM = "make room there and run the same command again"
_FAULTS = (
    _Fault("disk_full", "the quota is used up", _ROOM, (errno.EDQUOT,), "QuotaExceeded|Disk quota"),
    _Fault(
        *("disk_full", "no space left", _ROOM, (errno.ENOSPC,)),
        "StorageFull|InsufficientStorage|No space left",
    ),
    _Fault(
        *("no_bucket", "there is no such bucket", "check the name; a bucket is not made here", ()),
        "NoSuchBucket|bucket does not exist|Bucket '[^']*' not found|ContainerNotFound",
    ),
    _Fault(
        *("credentials", "credentials are missing, wrong or out of date"),
        "set those of the storage: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE for s3, "
        "GOOGLE_APPLICATION_CREDENTIALS for gs, AZURE_STORAGE_ACCOUNT_KEY for abfs",
        (),
        "Access Key Id you provided|signature we calculated|token.* (expired|invalid|malformed)|ExpiredToken"
        "|UNAUTHENTICATED|OAuth2 access token|[Dd]efault ?[Cc]redential|NoCredential"
        "|Credential(Unavailable|sNotFound)|locate credentials|ClientAuthentication|AuthenticationFailed",
    ),
    _Fault(
        *("denied", "permission denied", "it needs rights to list, read, write and delete there"),
        (errno.EACCES, errno.EPERM),
        "AccessDenied|PermissionError|PERMISSION_DENIED|Forbidden"
        "|AuthorizationPermissionMismatch|AuthorizationFailure|HTTP status 403",
    ),
    _Fault("denied", "the file system is read-only", "name a folder elsewhere", (errno.EROFS,)),
    _Fault(
        *("unreachable", "the storage cannot be reached or is overloaded"),
        "check the network and the address, then run the same command again",
        (
            *(errno.ECONNREFUSED, errno.ECONNRESET, errno.ETIMEDOUT, errno.EHOSTUNREACH),
            *(errno.ESTALE, errno.EBUSY),
        ),
        "UNAVAILABLE|Service Unavailable|ConnectionError|ConnectTimeout|EndpointConnection|timed out"
        "|ServiceRequestError|ClientConnector|HTTP status 5",
    ),
    _Fault(
        *("package", "Java or Hadoop's libhdfs cannot be loaded"),
        "set JAVA_HOME, HADOOP_HOME and CLASSPATH (`hadoop classpath --glob`)",
        (),
        "libjvm|libhdfs",
    ),
    _Fault(
        *("path_not_found", "no such file", "check the spelling", (errno.ENOENT,)),
        "FileNotFoundError|BlobNotFound|ResourceNotFound",
    ),
    _Fault(
        "output", "a file lies where a folder has to be", "name another folder", (errno.ENOTDIR, errno.EEXIST)
    ),
)


@contextmanager
def faults(where: str, *, reading: bool = False, of: type[Exception] = OSError) -> Iterator[None]:
    """Turn an error of the block with files at `where` into a StorageError, in reading into an InputError.

    Libraries of object storage raise classes of their own: there `of` is Exception.
    """
    try:
        yield
    except SmartsearchError:
        raise
    except of as error:
        raise fault(error, where, reading=reading) from error


def fault(error: Exception, where: str, *, reading: bool = False) -> SmartsearchError:
    """The error as one a user can act on."""
    kind = InputError if reading else StorageError
    text = f"{type(error).__name__}: {error}"
    number = getattr(error, "errno", None)
    for known in _FAULTS:
        if number in known.numbers or (number is None and re.search(known.words, text)):
            retryable = known.kind in _PASSING
            return kind(f"{where}: {known.said}", hint=known.hint, kind=known.kind, retryable=retryable)
    said = getattr(error, "strerror", None) or next(iter(str(error).splitlines()), "") or text
    return kind(f"{where}: {said}")
