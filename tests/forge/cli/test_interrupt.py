"""Ctrl-C and SIGTERM: once asks, twice ends."""

import os
import signal

import pytest

from forge.cli.interrupt import end_on_signals, stop_on_signals
from forge.factory.signals import StopKind, StopSignal


def press(number):
    os.kill(os.getpid(), number)
    signal.getsignal(number)  # handlers run between two instructions of the main thread


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_asks_and_second_ends(first, second):
    stop, said = StopSignal(), []
    with stop_on_signals(stop, said.append):
        press(first)
        assert stop.kind is StopKind.INTERRUPTED
        assert len(said) == 1
        with pytest.raises(KeyboardInterrupt):
            press(second)


def test_run_that_is_halting_already_can_still_be_ended():
    stop, said = StopSignal(), []
    stop.set(StopKind.HALTED, "the disk is full")
    with stop_on_signals(stop, said.append):
        press(signal.SIGINT)
        assert (stop.kind, stop.reason) == (StopKind.HALTED, "the disk is full")
        with pytest.raises(KeyboardInterrupt):
            press(signal.SIGINT)


def test_further_signals_leave_the_cleaning_up_alone():
    said = []
    with stop_on_signals(StopSignal(), said.append):
        press(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            press(signal.SIGINT)
        press(signal.SIGINT)
    assert said[-1] == "still cleaning up"


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with stop_on_signals(StopSignal(), print):
        assert signal.getsignal(signal.SIGINT) is not before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_short_ends_at_the_first_signal_and_cleans_up_in_peace(number):
    with end_on_signals():
        with pytest.raises(KeyboardInterrupt):
            press(number)
        press(number)


def test_terminal_that_closes_is_no_matter_where_that_is_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with end_on_signals():
            press(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
