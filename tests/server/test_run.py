import socket

import pytest

from regard.errors import ConfigError
from regard.server.run import listen


def test_accepted_connections_send_at_once():
    """Without a named protocol asyncio leaves Nagle's algorithm on, and every answer waits 40 ms."""
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            with accepted:
                assert accepted.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("host", ["203.0.113.7", "no-such-host.invalid", "::ffff:1:2:3:4:5"])
def test_an_address_that_is_not_ours(host):
    with pytest.raises(ConfigError, match="cannot listen on"):
        listen(host, 0)
