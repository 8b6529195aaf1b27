from macura.runs import differences


def test_leaves_that_differ_have_dotted_keys():
    before = {"sac": {"width": 64, "rate": 0.1}, "seed": 0}
    after = {"sac": {"width": 32, "rate": 0.1}, "seed": 1}
    assert [str(d) for d in differences(before, after)] == ["sac.width was 64, is 32", "seed was 0, is 1"]


def test_what_only_one_of_them_has_is_absent_in_the_other():
    found = differences({"old": 1, "gate": {"kind": "a", "x": 1}}, {"gate": {"kind": "b"}, "new": None})
    assert [str(d) for d in found] == [
        'gate.kind was "a", is "b"',
        "new was (absent), is null",
        "old was 1, is (absent)",
        "gate.x was 1, is (absent)",
    ]


def test_one_number_may_be_written_in_two_ways():
    assert differences({"x": 1, "y": 1e-3}, {"x": 1.0, "y": 0.001}) == []
    assert len(differences({"x": 1}, {"x": True})) == 1
