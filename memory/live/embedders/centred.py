"""Embedding models, with what all their vectors share taken away."""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from memory.live.embedders.builtin import unit_rows
from memory.live.embedders.port import Vectors

# Errands of every kind, in the languages people ask in first: only what they have in common matters.
BACKGROUND = (
    "Book a flight from Paris to Tokyo next Friday.",
    "Cancel my order and refund the payment.",
    "How many users signed up last month?",
    "Show the names of all employees older than forty.",
    "Send an email to the team about the meeting.",
    "Delete the temporary files in the folder.",
    "What is the weather in Berlin tomorrow?",
    "Restart the server when it does not answer.",
    "Translate this text into Spanish.",
    "Create a ticket for the broken printer.",
    "Find the cheapest hotel near the station.",
    "Summarise the report in three sentences.",
    "Update the address of the customer.",
    "Run the tests and fix what fails.",
    "Which product sold best in 2023?",
    "Move the file report.txt to the archive.",
    "Check the fuel level and start the engine.",
    "Transfer 200 dollars to the savings account.",
    "Schedule a call with the doctor on Monday.",
    "List the open pull requests of the repository.",
    "Play some quiet music in the kitchen.",
    "Look up the phone number of the restaurant.",
    "Compare the two contracts and list the differences.",
    "Plot the temperature over time as a line chart.",
    "Reset the password of my account.",
    "What is the average price per country?",
    "Post a message with the picture of the cat.",
    "Buy ten shares when the price falls below 50.",
    "Convert the spreadsheet into a JSON file.",
    "Why did the nightly job fail yesterday?",
    "查询订单状态并通知用户。",
    "帮我预订明天去上海的火车票。",
    "统计每个部门的员工人数。",
    "把文件移动到备份目录。",
    "申请退款并取消订单。",
    "今天北京的天气怎么样？",
    "重启服务并检查日志。",
    "给客户发送一封邮件。",
    "比较两个方案的价格。",
    "昨天跑批失败的原因是什么？",
)


class Model(Protocol):
    """An embedding model as it comes; vectors of length 1."""

    @property
    def name(self) -> str: ...

    @property
    def dims(self) -> int: ...

    def embed(self, texts: Sequence[str], *, asked: bool) -> Vectors:
        """One row a text. ``asked`` for questions, else what is stored. Raises ``EmbedderError``."""


class CentredEmbedder:
    """An :class:`~memory.live.embedders.port.Embedder` over a model.

    Models put all texts into one corner of the space (the cosines of E5 lie between .8 and .97), so a
    threshold means little. The mean vector of unrelated texts (:data:`BACKGROUND`) is subtracted and the
    rest scaled to length 1 again ("all-but-the-top" without its second step: Mu & Viswanath 2018):
    unrelated texts then come to lie near 0, and paraphrases near .7.
    """

    ranks = True

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = threading.Lock()
        self.name = f"{model.name}-centred"
        self.dims = model.dims

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text. Raises ``EmbedderError``."""
        return self._embed(texts, asked=False)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text. Raises ``EmbedderError``."""
        return self._embed(texts, asked=True)

    def _embed(self, texts: Sequence[str], *, asked: bool) -> Vectors:
        vectors = np.zeros((len(texts), self.dims), dtype=np.float32)
        worded = [place for place, text in enumerate(texts) if text.strip()]
        if worded:
            raw = self._model.embed([texts[place] for place in worded], asked=asked)
            vectors[worded] = unit_rows(raw - self._centre(asked=asked))
        return vectors

    def _centre(self, *, asked: bool) -> Vectors:
        with self._lock:
            return self._asked_centre if asked else self._stored_centre

    @cached_property
    def _asked_centre(self) -> Vectors:
        return self._mean(asked=True)

    @cached_property
    def _stored_centre(self) -> Vectors:
        return self._mean(asked=False)

    def _mean(self, *, asked: bool) -> Vectors:
        return np.asarray(self._model.embed(BACKGROUND, asked=asked).mean(axis=0), dtype=np.float32)
