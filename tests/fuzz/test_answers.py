from tests.fuzz.answers import attempt


def test_user_code_may_answer_anything_anywhere():
    assert [problem for i in range(8) if (problem := attempt(f"ci {i}")) is not None] == []
