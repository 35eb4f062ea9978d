"""The folder broker: no half-written file may stop a worker."""

from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from threading import Thread
from typing import Any

import pytest
from kombu import Connection

from hgmem_site.folder_broker import Channel, use_folder_broker


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Any]:
    """A channel on an empty folder."""
    use_folder_broker()
    for name in ("queue", "processed", "control"):
        (tmp_path / name).mkdir()
    options = {
        "data_folder_in": str(tmp_path / "queue"),
        "data_folder_out": str(tmp_path / "queue"),
        "processed_folder": str(tmp_path / "processed"),
        "control_folder": str(tmp_path / "control"),
    }
    with Connection("filesystem://", transport_options=options) as connection:
        yield connection.channel()


def test_filesystem_address__after_set_up__means_this_transport(channel: Any) -> None:
    assert isinstance(channel, Channel)


@pytest.mark.parametrize("left", [pytest.param("", id="empty"), pytest.param('{"body": "x', id="cut-off")])
def test_message__half_written__is_passed_over(channel: Any, tmp_path: Path, left: str) -> None:
    (tmp_path / "queue" / "0_broken.hgmem.msg").write_text(left)
    channel._put("hgmem", {"n": 1})

    assert channel._get("hgmem") == {"n": 1}
    with pytest.raises(Empty):
        channel._get("hgmem")


def test_messages__read_while_written__arrive_whole(channel: Any) -> None:
    total = 300
    writer = Thread(target=lambda: [channel._put("hgmem", {"n": n, "body": "x" * 500}) for n in range(total)])
    found: list[int] = []
    writer.start()
    while len(found) < total and (writer.is_alive() or channel._size("hgmem")):
        try:
            found.append(channel._get("hgmem")["n"])
        except Empty:
            continue
    writer.join()

    assert sorted(found) == list(range(total))


def test_exchange__file_left_empty__is_bound_anew(channel: Any, tmp_path: Path) -> None:
    (tmp_path / "control" / "hgmem.exchange").touch()

    assert channel.get_table("hgmem") == []
    channel._queue_bind("hgmem", "hgmem", "", "hgmem")

    assert [bound.queue for bound in channel.get_table("hgmem")] == ["hgmem"]
