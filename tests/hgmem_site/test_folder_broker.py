"""The broker in a folder: no message is ever seen half written."""

from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection

from hgmem_site.folder_broker import Channel


@pytest.fixture
def channel(tmp_path: Path) -> Channel:
    names = ("data_folder_in", "data_folder_out", "processed_folder", "control_folder")
    folders = {name: str(tmp_path / name.replace("_out", "_in")) for name in names}
    for folder in folders.values():
        Path(folder).mkdir(exist_ok=True)
    return Connection("filesystem://", transport_options=folders).channel()


@pytest.mark.parametrize("content", [b"", b'{"body": "cut', b"\xff\xfe"], ids=["empty", "cut", "not text"])
def test_get__message_that_cannot_be_read__is_passed_over(
    channel: Channel, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "data_folder_in" / "1_a.work.msg").write_bytes(content)
    channel._put("work", {"body": "whole"})

    with pytest.raises(Empty):
        channel._get("work")

    assert channel._get("work") == {"body": "whole"}


def test_put__while_it_is_written__nobody_finds_it(
    channel: Channel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr("hgmem_site.folder_broker.os.replace", lambda *_: seen.append(channel._size("work")))

    channel._put("work", {"body": "whole"})

    assert seen == [0]
    with pytest.raises(Empty):
        channel._get("work")


def test_bind__list_of_queues_was_left_empty__is_made_again(channel: Channel, tmp_path: Path) -> None:
    (tmp_path / "control_folder" / "work.exchange").write_bytes(b"")

    channel._queue_bind("work", "work", "", "work")

    assert [bound.queue for bound in channel.get_table("work")] == ["work"]
