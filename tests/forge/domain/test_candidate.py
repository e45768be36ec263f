"""Which states are an end."""

from forge.domain.candidate import CandidateState


def test_what_is_final_and_what_only_this_run_of_the_program_leaves() -> None:
    final = {state.value for state in CandidateState if state.final}
    ended = {state.value for state in CandidateState if state.ended}
    assert final == {"retained", "discarded"}
    assert ended - final == {"errored", "interrupted"}
