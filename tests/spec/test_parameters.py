"""Values of documents by name."""

from engine.spec.base.parameters import parameters


def test_members_of_lists_have_their_names_where_these_tell_them_apart() -> None:
    document = {
        "query": {
            "operators": [{"id": "a", "params": {"size": 1}}, {"id": "b/c", "on": [1, 2]}],
            "edges": [{"source": "a", "target": "b", "port": "in"}],
        },
        "cluster": {"hosts": [{"name": "w", "cores": 2}, {"name": "w", "cores": 4}, {"cores": None}]},
        "drain": True,
    }
    assert parameters(document) == {
        "/query/operators/a/id": "a",
        "/query/operators/a/params/size": 1,
        "/query/operators/b~1c/id": "b/c",
        "/query/operators/b~1c/on/0": 1,
        "/query/operators/b~1c/on/1": 2,
        "/query/edges/a-b/source": "a",
        "/query/edges/a-b/target": "b",
        "/query/edges/a-b/port": "in",
        "/cluster/hosts/0/name": "w",
        "/cluster/hosts/0/cores": 2,
        "/cluster/hosts/1/name": "w",
        "/cluster/hosts/1/cores": 4,
        "/cluster/hosts/2/cores": None,
        "/drain": True,
    }
