"""Configurations, and the calls that take one: what every language must make of them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import idgen
from conftest import REPOSITORY, settings_of, vectors
from idgen import _errors

STARTED = datetime.now(timezone.utc) - timedelta(milliseconds=1)


class Host:
    """A store of the program's own. None of the calls gets as far as asking it."""

    def segment_take(self, namespace: str, tag: str, count: int, /) -> int:
        raise AssertionError


def shown(info: idgen.SegmentInfo) -> str:
    assert STARTED < info.updated <= datetime.now(timezone.utc)
    return f"{info.max_id} {info.step}" + (" unused" if info.rate == 0 and info.holder == "" else "")


def answer_to(call: str, settings: dict[str, Any], argument: str) -> str:
    match call:
        case "remove":
            Path(argument).unlink()
        case "spoil":
            Path(argument).write_text("this is no database\n" * 1000)
        case "open":
            with idgen.Generator(**settings) as generator:
                return " ".join(map(str, generator.next_batch(int(argument or 0))))
        case "open_table":
            idgen.open(*argument.split(" "), **settings).close()
        case "names":
            return ", ".join(idgen.config_names(argument))
        case "create_store":
            idgen.store_create(**settings)
        case "create":
            idgen.segment_create(above=int(argument or 0), **settings)
        case "show":
            return shown(idgen.segment_show(**settings))
        case "advance":
            return shown(idgen.segment_advance(int(argument), **settings))
        case "set_step":
            return shown(idgen.segment_set_step(int(argument), **settings))
        case "list":
            rows = idgen.segment_list(**settings)
            for row in rows:
                assert tuple(row)[2:] == idgen.segment_show(**{**settings, "namespace": row.namespace, "tag": row.tag})
            return ", ".join(f"{row.namespace} {row.tag} {row.max_id}" for row in rows)
        case "statements":
            text = idgen.segment_statements(**settings)
            return text[text.rfind("INSERT") : text.rfind(", ")] if text else ""
        case "max_of":
            idgen.segment_max_of(*argument.split(" "), **settings)
        case _:
            raise AssertionError(call)
    return ""


def test_every_call_of_the_vectors_has_its_answer(tmp_path: Path) -> None:
    places = {"FOLDER": str(tmp_path), "VECTORS": str(REPOSITORY / "tests" / "vectors")}

    def filled(text: str) -> str:
        return text.replace("FOLDER", places["FOLDER"]).replace("VECTORS", places["VECTORS"])

    for call, properties, argument, *wanted in vectors("calls.tsv"):
        settings = {key: Host() if value == "HOST" else value for key, value in settings_of(filled(properties)).items()}
        found: type[idgen.Error] | None = None
        try:
            status, answer = "OK", answer_to(call, settings, filled(argument))
        except idgen.Error as error:
            status, answer, found = error.name, str(error), type(error)
        assert found is _errors.CLASS_BY_NAME.get(status)
        for name, path in places.items():
            answer = answer.replace(path, name)
        assert [status, answer] == wanted, (call, properties, argument)
