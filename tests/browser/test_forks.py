"""Another future from a moment of a run on, and both drawn over each other."""

from __future__ import annotations

from collections.abc import Callable

import httpx
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .test_pictures import wait_until_ended
from .test_run import start


def test_a_run_is_forked_where_the_cursor_stands(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment())
    wait_until_ended(api, page, run_id)
    page.goto(f"/runs/{run_id}")
    fork = page.get_by_role("button", name="Fork")
    expect(page.get_by_test_id("fork")).to_be_disabled()  # at its end
    expect(page.get_by_test_id("fork")).to_have_attribute("title", "The input ends here: scrub back to a moment before the horizon")
    page.get_by_role("slider", name="Moment shown").press("Home")
    for _ in range(11):
        page.get_by_role("button", name="One frame on").click()
    fork.click()
    expect(page.get_by_text("As this run up to 3.00 s")).to_be_visible()
    load = page.get_by_label("Load")
    load.fill("much")
    expect(page.get_by_test_id("fork-go")).to_be_disabled()
    load.fill("2")
    page.get_by_label("Goes wrong").select_option("pause")
    page.get_by_label("Host", exact=True).select_option("w2")
    page.get_by_test_id("fork-go").press("Enter")
    page.wait_for_url("**/compare?runs=*")
    made = page.url.split(",")[-1]
    wait_until_ended(api, page, made)
    expect(page.get_by_test_id("fork-mark")).to_be_visible()
    assert_accessible(page)
    one, other = (api.get(f"/api/runs/{id}/frames?limit=1000").json()["frames"] for id in (run_id, made))
    same = [a == b for a, b in zip(one, other, strict=False)]
    assert same.index(False) == 12  # the first after 3 s
    page.goto(f"/runs/{made}")
    expect(page.get_by_test_id("forked")).to_have_text("Fork at 3.00 s")
    expect(page.get_by_text("w2")).not_to_have_count(0)
