import random
import threading

from hypothesis import given
from hypothesis import strategies as st

from solvers.gate import Gate
from solvers.retry import BackOff


@given(st.integers(0, 200), st.floats(0, 10_000) | st.none(), st.integers())
def test_delay_is_bounded_and_honours_what_is_asked(retry: int, asked: float | None, seed: int):
    back_off = BackOff(first_sec=1, most_sec=60, most_asked_sec=600)
    delay = back_off.delay(retry, asked, random.Random(seed))
    assert min(60, 2.0**retry) / 2 <= delay or delay >= 30
    assert delay <= 600
    assert delay >= min(asked or 0, 600)


def test_delay_doubles_and_follows_the_seed():
    back_off = BackOff()
    first = [back_off.delay(retry, None, random.Random(7)) for retry in range(4)]
    assert first == [back_off.delay(retry, None, random.Random(7)) for retry in range(4)]
    assert first[1:] == [2 * delay for delay in first[:-1]]


def test_rate_spaces_the_starts():
    now, waits = [100.0], []
    gate = Gate(4, per_minute=30, clock=lambda: now[0], sleep=waits.append)
    for _ in range(3):
        with gate.entered():
            pass
    assert waits == [2.0, 4.0]
    now[0] = 200.0
    with gate.entered():
        pass
    assert waits == [2.0, 4.0]


def test_no_more_than_the_slots_are_inside():
    gate = Gate(2, None, clock=lambda: 0.0, sleep=lambda _: None)
    lock, inside, most = threading.Lock(), [0], [0]
    pair = threading.Barrier(2)

    def work() -> None:
        with gate.entered():
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            pair.wait(30)
            with lock:
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 2
