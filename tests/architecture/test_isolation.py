"""The tests themselves stay on this machine and away from the person's files."""

import socket
from pathlib import Path

import platformdirs
import pytest


@pytest.mark.parametrize("address", ["192.0.2.1", "10.0.0.1"])
def test_no_connection_leaves_this_machine(address: str, network_attempts: list[str]) -> None:
    with socket.socket() as outside, pytest.raises(OSError, match="No test may connect"):
        outside.connect((address, 80))
    assert network_attempts == [address]
    network_attempts.clear()


def test_no_name_is_looked_up_outside_this_machine(network_attempts: list[str]) -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("example.invalid", 443)
    assert network_attempts == ["example.invalid"]
    network_attempts.clear()


def test_files_of_the_person_are_out_of_reach(home_dir: Path) -> None:
    for folder in (platformdirs.user_config_path("roamtui"), platformdirs.user_data_path("roamtui")):
        assert folder.is_relative_to(home_dir)
    assert Path.home() == home_dir
