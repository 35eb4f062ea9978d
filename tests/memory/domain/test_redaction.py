"""What is replaced, what stays, and the two properties that must hold for any document."""

import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.domain.detectors import InvalidPatternError
from memory.domain.redaction import Redactor

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA75\nabcd\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    pytest.param("sk-proj-abcdefghij1234567890", "api_key", id="openai"),
    pytest.param("sk-ant-api03-AbCdEfGh1234567890_x-y", "api_key", id="anthropic"),
    pytest.param("ghp_0123456789abcdefghijABCDEFGHIJ012345", "api_key", id="github"),
    pytest.param("github_pat_11ABCDEFG0abcdefghijkl_mnop", "api_key", id="github-fine-grained"),
    pytest.param("AKIAIOSFODNN7EXAMPLE", "api_key", id="aws-key-id"),
    pytest.param("xoxb-123456789012-abcdefGHIJKL", "api_key", id="slack"),
    pytest.param("AIzaSyA1234567890abcdefghijklmnopqrstuv", "api_key", id="google"),
    pytest.param("sk_" + "live_abcdefgh1234567890", "api_key", id="stripe"),
    pytest.param("hgm_abcdefgh_0123456789abcdef", "api_key", id="our-own"),
    pytest.param("glpat-abcdefghij0123456789", "api_key", id="gitlab"),
    pytest.param("hf_abcdefghijklmnopqrstuvwx", "api_key", id="hugging-face"),
    pytest.param(JWT, "jwt", id="jwt"),
    pytest.param(PEM, "private_key", id="pem"),
    pytest.param("someone.else+tag@mail.example.co.uk", "email", id="email"),
    pytest.param("4111111111111111", "card", id="visa"),
    pytest.param("4111 1111 1111 1111", "card", id="visa-spaced"),
    pytest.param("5500-0000-0000-0004", "card", id="mastercard-dashed"),
    pytest.param("378282246310005", "card", id="amex"),
    pytest.param("3782 822463 10005", "card", id="amex-spaced"),
    pytest.param("6011111111111117", "card", id="discover"),
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_redact__a_secret_in_a_sentence__becomes_its_marker(secret: str, kind: str) -> None:
    value, counts = Redactor().redact({"note": f"use {secret} now", "list": [f"({secret})"]})

    assert value == {"note": f"use [redacted:{kind}] now", "list": [f"([redacted:{kind}])"]}
    assert counts == {kind: 2}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("password=hunter2", "password=[redacted:password]", id="assignment"),
        pytest.param("DB_PASSWORD: s3cret!", "DB_PASSWORD: [redacted:password]", id="yaml"),
        pytest.param('{"password": "a b"}', '{"password": "[redacted:password]"}', id="json-in-text"),
        pytest.param(r"{\"pwd\": \"a b\"}", r"{\"pwd\": \"[redacted:password]\"}", id="escaped-json"),
        pytest.param("login --password hunter -v", "login --password [redacted:password] -v", id="option"),
        pytest.param("?api_key=zzzz9&x=1", "?api_key=[redacted:secret]&x=1", id="query-string"),
        pytest.param("WHERE password = 'x y'", "WHERE password = '[redacted:password]'", id="sql"),
        pytest.param(
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY=[redacted:secret]", id="env"
        ),
        pytest.param(
            "Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted:secret]", id="basic-header"
        ),
        pytest.param("Authorization: Bearer abc", "Authorization: Bearer abc", id="too-short-to-be-a-token"),
        pytest.param("Bearer abcdefgh12345678abc", "Bearer [redacted:token]", id="bearer"),
        pytest.param("Cookie: sid=abc123; x=y", "Cookie: [redacted:secret]", id="cookie-header"),
        pytest.param(
            "postgres://joe:p@ss@db/x", "postgres://[redacted:url_credentials]@db/x", id="url-credentials"
        ),
        pytest.param('"token":"abc"', '"token":"[redacted:token]"', id="quoted-token"),
    ],
)
def test_redact__a_secret_named_in_the_text__only_the_value_goes(text: str, expected: str) -> None:
    assert Redactor().redact(text)[0] == expected


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("Unexpected token < in JSON at position 0", id="parser-error"),
        pytest.param("password: field required", id="validation-message"),
        pytest.param("The password is wrong.", id="prose"),
        pytest.param({"max_tokens": 4096, "total_tokens": "77", "token_count": 5}, id="token-counts"),
        pytest.param({"usage": {"prompt_tokens": 12, "completion_tokens": 3}}, id="usage"),
        pytest.param({"next_page_token": "abcdefghijklmnop12"}, id="page-token"),
        pytest.param('{"max_tokens": 4096}', id="token-count-in-text"),
        pytest.param({"password": None, "secret": "", "token": True}, id="empty-secrets"),
        pytest.param(1715000000000, id="milliseconds"),
        pytest.param(1715000000000000000, id="nanoseconds"),
        pytest.param("4111111111111112", id="luhn-fails"),
        pytest.param("9911111111111112", id="no-brand"),
        pytest.param("order 20240520-000017-123456", id="order-id"),
        pytest.param("550e8400-e29b-4111-8111-411111111111", id="uuid"),
        pytest.param("ab4111111111111111", id="inside-a-word"),
        pytest.param("0.4111111111111111", id="decimals"),
        pytest.param("risk-management-procedures-for-2024", id="words-with-dashes"),
        pytest.param("git clone git@github.com:org/repo.git", id="git-remote"),
        pytest.param("user@localhost", id="no-domain"),
        pytest.param("https://example.org/a?b=c", id="plain-url"),
        pytest.param("bearer responsibilities of everybody", id="bearer-in-prose"),
        pytest.param({"passengers": ["A", "B"], "passed": True}, id="pass-words"),
        pytest.param([1, 2.5, None, True, {"a": []}], id="plain-values"),
    ],
)
def test_redact__harmless_value__is_returned_itself(value: Any) -> None:
    result, counts = Redactor().redact(value)

    assert result == value
    assert counts == {}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param("password", "password", id="plain"),
        pytest.param("userPasswd", "password", id="camel"),
        pytest.param("X-API-Key", "secret", id="header"),
        pytest.param("client_secret", "secret", id="client-secret"),
        pytest.param("Authorization", "secret", id="authorization"),
        pytest.param("set-cookie", "secret", id="cookie"),
        pytest.param("accessToken", "token", id="token"),
        pytest.param("cvv", "secret", id="cvv"),
        pytest.param("sessionID", "secret", id="session"),
    ],
)
def test_redact__field_named_like_a_secret__everything_below_goes(name: str, kind: str) -> None:
    value, _ = Redactor().redact({"a": [{name: "x"}, {name: {"deep": ["y", None, False]}}]})

    marker = f"[redacted:{kind}]"
    assert value == {"a": [{name: marker}, {name: {"deep": [marker, None, False]}}]}


def test_redact__secret_as_a_key__both_entries_survive_under_markers() -> None:
    value, counts = Redactor().redact({"a@example.org": 1, "b@example.org": 2, "4111111111111111": 3})

    assert value == {"[redacted:email]": 1, "[redacted:email]~": 2, "[redacted:card]": 3}
    assert counts == {"email": 2, "card": 1}


def test_redact__card_as_a_number__is_replaced() -> None:
    assert Redactor().redact([4111111111111111, 4111111111111111.0])[0] == ["[redacted:card]"] * 2


def test_redact__with_a_key__equal_secrets_keep_equal_markers() -> None:
    redactor = Redactor(key=b"k" * 16)

    (first, again, other), _ = redactor.redact(["a@example.org", "a@example.org", "b@example.org"])

    assert first == again != other
    assert redactor.redact([first])[0] == [first]
    assert Redactor(key=b"z" * 16).redact("a@example.org")[0] != first


def test_redact__workspace_settings__extend_and_allow() -> None:
    redactor = Redactor(
        fields=["Badge Number"],
        patterns={"ticket": r"TCK-\d{4}"},
        allow=["@example.org", "sk-demo-0000000000000000"],
    )

    value, counts = redactor.redact(
        {
            "badge_number": "77",
            "t": "see TCK-1234",
            "m": ["a@example.org", "a@other.org"],
            "k": "sk-demo-0000000000000000",
        }
    )

    assert value == {
        "badge_number": "[redacted:secret]",
        "t": "see [redacted:ticket]",
        "m": ["a@example.org", "[redacted:email]"],
        "k": "sk-demo-0000000000000000",
    }
    assert counts == {"secret": 1, "ticket": 1, "email": 1}


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        pytest.param("Bad Name", "x", "lower case", id="name"),
        pytest.param("a", "(", "RE2", id="syntax"),
        pytest.param("a", r"(\w)\1", "RE2", id="back-reference"),
        pytest.param("a", "x*", "empty", id="matches-nothing"),
        pytest.param("a", "x" * 501, "characters", id="length"),
    ],
)
def test_redactor__unusable_pattern__is_refused_with_the_reason(name: str, source: str, reason: str) -> None:
    with pytest.raises(InvalidPatternError, match=reason):
        Redactor(patterns={name: source})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 200_000, id="one-word"),
        pytest.param("a." * 100_000 + "@", id="dots"),
        pytest.param("1 " * 100_000, id="digits"),
        pytest.param("password" * 20_000, id="names"),
        pytest.param('token"' * 20_000, id="quoted-names"),
        pytest.param("://" + "a:" * 50_000 + "@", id="authorities"),
        pytest.param("://a:" * 20_000 + "@", id="many-urls"),
        pytest.param("eyJ" + "a" * 100_000, id="jwt-head"),
        pytest.param("-----BEGIN PRIVATE KEY-----" * 2_000, id="pem-heads"),
        pytest.param("authorization: cookie: a=" * 5_000, id="headers"),
        pytest.param("sk-" * 50_000 + "1", id="vendor-prefixes"),
    ],
)
def test_redact__hostile_text__is_read_to_its_end(text: str) -> None:
    """Hundreds of kilobytes; a detector that is not linear would not return within the suite's patience."""
    redactor = Redactor(patterns={"own": r"(a+)+$"})

    value, _ = redactor.redact(["password secret token eyJ @", text + '" password="hunter2"'])

    assert "hunter2" not in value[1]


planted = st.sampled_from([param.values[0] for param in SECRETS])
letters = st.text(alphabet=string.ascii_letters + string.digits + " .,:;=\"'-_@/{}[]\\\n中é", max_size=30)
separator = st.sampled_from([" ", ", ", "\n", " (", '"', ": ", "= "])
clean_names = st.text(alphabet="abcdefgh", min_size=1, max_size=8)


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, list[str]]:
    """A nested document with secrets planted in strings, keys and under secret names."""
    secrets: list[str] = []

    def leaf() -> Any:
        secret = str(draw(planted))
        secrets.append(secret)
        before = draw(letters) + draw(separator)
        return before + secret + draw(separator) + draw(letters)

    def node(depth: int) -> Any:
        choice = draw(st.integers(0, 4)) if depth else 4
        if choice == 0:
            return [node(depth - 1) for _ in range(draw(st.integers(1, 3)))]
        if choice == 1:
            return {draw(clean_names): node(depth - 1), str(draw(planted)): 1}
        if choice == 2:
            return {"password": node(depth - 1), "n": 3}
        return leaf() if choice == 3 else draw(letters)

    return node(4), secrets


def texts(value: Any) -> list[str]:
    """Every string of a document, keys too."""
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


@settings(max_examples=300, deadline=None)
@given(documents())
def test_redact__any_document__no_planted_secret_survives_and_twice_is_once(
    case: tuple[Any, list[str]],
) -> None:
    document, secrets = case
    redactor = Redactor(key=b"k" * 16)

    once, _ = redactor.redact(document)
    twice, counts = redactor.redact(once)

    left = "\0".join(texts(once))
    assert not [secret for secret in secrets if secret in left]
    assert not [param.values[0] for param in SECRETS if str(param.values[0]) in left]
    assert twice == once
    assert counts == {}


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        letters | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(letters, inner)
    )
)
def test_redact__any_value__twice_is_once(value: Any) -> None:
    redactor = Redactor(patterns={"own": r"[a-c]{3}"})

    once, _ = redactor.redact(value)

    assert redactor.redact(once)[0] == once
