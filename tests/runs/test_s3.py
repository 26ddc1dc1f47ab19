"""A run folder and transcripts in S3, over the network of this machine: `make test-all`."""

from pathlib import Path

import pytest

from smartsearch.ask.runs.faults import StorageError
from smartsearch.ask.runs.remote import Remote, storage
from smartsearch.ask.runs.staging import Staging
from smartsearch.errors import InputError
from smartsearch.transcripts.corpus import read
from tests.runs import test_storage

s3fs = pytest.importorskip("s3fs", reason="needs s3fs: make test-all")
server = pytest.importorskip("moto.server", reason="needs moto: make test-all")
boto3 = pytest.importorskip("boto3", reason="needs moto: make test-all")

pytestmark = pytest.mark.ray

KEYS = b"Mara: where is the key?\nJon: under the pot\n"


@pytest.fixture(scope="module", autouse=True)
def keys():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield


@pytest.fixture(scope="module")
def address(keys) -> str:
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    _, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        yield f"127.0.0.1:{port}"
    running.stop()


@pytest.fixture(scope="module")
def client(address):
    made = boto3.client("s3", endpoint_url=f"http://{address}", region_name="us-east-1")
    made.create_bucket(Bucket="runs")
    return made


@pytest.fixture
def folder(client, request) -> Remote:
    return storage(f"s3://runs/{request.node.name}")


def test_what_is_written_is_read(folder):
    test_storage.test_what_is_written_is_read_and_what_is_removed_is_gone(folder.place)
    assert not folder.exists("parts")
    folder.write("a.gz", b"\x1f\x8bnot really")
    assert folder.read("a.gz") == b"\x1f\x8bnot really"  # packed bytes come as they are


def test_a_missing_bucket_and_a_missing_file_are_told_apart(folder):
    with pytest.raises(InputError, match=r"plan\.json: no such file"):
        folder.read("plan.json")
    other = storage("s3://nobodys/run")
    for method in (other.read, lambda name: other.write(name, b"")):
        with pytest.raises((InputError, StorageError), match="there is no such bucket") as caught:
            method("plan.json")
        assert caught.value.kind == "no_bucket"


def test_a_server_that_is_not_there_is_worth_another_try(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr(s3fs.S3FileSystem, "cachable", False)
    gone = storage("s3://runs/x")
    with pytest.raises(InputError, match="cannot be reached") as caught:
        gone.read("plan.json")
    assert (caught.value.kind, caught.value.retryable) == ("unreachable", True)


def test_transcripts_are_read_and_named_by_their_uri(folder, client):
    key = Path(folder.where()).name
    folder.write("chats/a.txt", KEYS)
    folder.write("chats/deep/b.txt", KEYS)
    client.put_object(Bucket="runs", Key=f"{key}/chats/../../evil.txt", Body=b"Eve: hello\n")
    client.put_object(Bucket="runs", Key=f"{key}/chats//c.txt", Body=b"Eve: hello\n")
    staging = Staging()
    (local,) = staging.local([f"s3://runs/{key}/chats"])
    paths = {staging.named(turn.path) for turn in read([local]).turns}
    assert paths == {f"s3://runs/{key}/chats/a.txt", f"s3://runs/{key}/chats/deep/b.txt"}
    assert Path(local, "a.txt").read_bytes() == KEYS
