"""A lean HTTP load generator: one process, raw sockets, keep-alive, prepared bytes.

Each connection is always waiting for exactly one answer. A request costs the client about 15 microseconds
(one send, one receive, one search for the end of the head), and the CPU share it takes is in the result.
"""

import resource
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

HEAD_END = b"\r\n\r\n"


@dataclass
class LoadResult:
    """Latencies in seconds of all answers, by order of arrival."""

    seconds: float = 0.0
    client_cpu_s: float = 0.0
    statuses: dict[int, int] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.seconds if self.seconds else 0.0

    @property
    def client_share(self) -> float:
        """The part of one core that the client took."""
        return self.client_cpu_s / self.seconds if self.seconds else 0.0

    def quantile_ms(self, q: float) -> float:
        """A quantile of the latency, in milliseconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(q * len(ordered)))] * 1000 if ordered else float("nan")

    def add(self, other: "LoadResult") -> None:
        """Join another round."""
        self.seconds += other.seconds
        self.client_cpu_s += other.client_cpu_s
        self.latencies += other.latencies
        for status, n in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + n


class _Connection:
    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0.0
        self.received = b""

    def send(self, request: bytes) -> None:
        self.received = b""
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> int | None:
        """The status once the whole answer is there."""
        chunk = self.socket.recv(262_144)
        if not chunk:
            raise ConnectionError("the server closed a connection")
        self.received = self.received + chunk if self.received else chunk
        end = self.received.find(HEAD_END)
        if end < 0:
            return None
        head = self.received[:end].lower()
        at = head.find(b"content-length:")
        if at < 0:
            raise ConnectionError("an answer without a length")
        line_end = head.find(b"\r\n", at)
        length = int(head[at + 15 : line_end if line_end > 0 else len(head)])
        if len(self.received) < end + 4 + length:
            return None
        return int(self.received[9:12])


def prepare_post(url: str, body: bytes, headers: dict[str, str]) -> bytes:
    """The bytes of one POST."""
    parts = urlsplit(url)
    lines = [f"POST {parts.path} HTTP/1.1", f"Host: {parts.netloc}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def run_load(url: str, requests: Sequence[bytes], *, connections: int, seconds: float) -> LoadResult:
    """Send ``requests`` round and round over ``connections`` connections for ``seconds``."""
    parts = urlsplit(url)
    open_connections = [_Connection(parts.hostname or "", parts.port or 80) for _ in range(connections)]
    result = LoadResult()
    turn = 0
    with selectors.DefaultSelector() as selector:
        cpu = resource.getrusage(resource.RUSAGE_SELF)
        begin = time.perf_counter()
        for connection in open_connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send(requests[turn % len(requests)])
            turn += 1
        end = begin + seconds
        while (now := time.perf_counter()) < end:
            for key, _ in selector.select(end - now):
                connection = key.data
                status = connection.receive()
                if status is None:
                    continue
                result.latencies.append(time.perf_counter() - connection.sent_at)
                result.statuses[status] = result.statuses.get(status, 0) + 1
                connection.send(requests[turn % len(requests)])
                turn += 1
        result.seconds = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_SELF)
        result.client_cpu_s = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
    for connection in open_connections:
        connection.socket.close()
    return result
