"""Lessons in the browser: small histories, step by step."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from .axe import assert_accessible


def test_the_domino_effect_step_by_step(page: Page) -> None:
    page.goto("/learn")
    page.get_by_test_id("lessons").get_by_role("link", name="The domino effect").click()
    step = page.get_by_test_id("step")
    expect(step).to_contain_text("What happened")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(step).to_contain_text("Mark c13")
    expect(step).to_contain_text("m6 was sent after the latter and processed before c13, so it is an orphan")
    expect(page.locator("[data-message=m6]")).to_have_attribute("data-state", "orphan")
    expect(page.locator("[data-checkpoint=c13]")).to_have_attribute("data-state", "marked")
    expect(page.get_by_test_id("known")).to_contain_text("Markedc13")
    assert_accessible(page)
    page.keyboard.press("End")
    expect(step).to_contain_text("5 checkpoints are discarded")
    expect(page.get_by_test_id("known")).to_contain_text("Linec11, c21, c31")
    expect(page.get_by_role("button", name="Next step")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("ArrowLeft")
    expect(step).to_contain_text("Back to c21")
    page.reload()  # the step stands in the address
    expect(step).to_contain_text("Back to c21")
    page.get_by_role("button", name="First step").click()
    expect(step).to_contain_text("step 1 of 14")
    without = page.get_by_role("radio", name="Without m6")
    without.click(force=True)
    expect(without).to_be_checked()  # once the address has it
    page.get_by_role("button", name="Last step").click()
    expect(step).to_contain_text("none is discarded")
    expect(page).to_have_url(re.compile(r"/learn/checkmate-3\.5\?case=2&step=4"))


def test_each_lesson_can_be_gone_through(page: Page) -> None:
    page.goto("/learn/checkmate-3.1")
    links = page.get_by_test_id("lessons").get_by_role("link")
    expect(links).to_have_count(20)
    for n in range(20):
        links.nth(n).click()
        expect(links.nth(n)).to_have_attribute("aria-current", "page")
        expect(page.get_by_test_id("space-time")).to_be_visible()
        page.get_by_role("button", name="Last step").click()
        expect(page.get_by_role("button", name="Next step")).to_have_attribute("aria-disabled", "true")


def test_barriers_wait_and_messages_force(page: Page) -> None:
    page.goto("/learn/checkmate-3.3")
    page.get_by_role("navigation", name="All steps").get_by_role("button", name="c2 has to wait").click()
    expect(page.locator("[data-message=c2]")).to_have_attribute("data-state", "aside")
    expect(page.get_by_test_id("space-time")).to_contain_text("S3 blocked")
    expect(page.locator("[data-message='barrier S2 → J2']")).to_have_count(1)
    page.goto("/learn/checkmate-3.6?case=3")
    page.get_by_role("navigation", name="All steps").get_by_role("button", name="n2 forces c31").click()
    expect(page.locator("[data-checkpoint=c31]")).to_have_count(1)
    expect(page.locator("[data-checkpoint=c32]")).to_have_count(0)  # is not taken yet
    row = page.get_by_test_id("knows").get_by_role("row").filter(has=page.get_by_role("cell", name="join", exact=True)).first
    expect(row).to_contain_text(re.compile(r"^join\s*2"))
    assert_accessible(page)


def test_a_lesson_that_is_not_there_says_so(page: Page) -> None:
    page.goto("/learn/checkmate-9.9")
    expect(page.get_by_text("It may have been deleted, or the address is wrong.")).to_be_visible()
    page.get_by_test_id("lessons").get_by_role("link").first.click()
    expect(page.get_by_test_id("step")).to_contain_text("What happened")


def test_policies_are_compared_on_one_core(page: Page) -> None:
    page.goto("/learn")
    page.get_by_role("region", name="Scheduling").get_by_role("link", name="Least slack is not earliest deadline").click()
    step = page.get_by_test_id("step")
    expect(step).to_contain_text("All events wait")
    page.keyboard.press("End")
    expect(step).to_contain_text("B gives its result at 13.1 s, 2.6 s late")
    least = page.get_by_role("radio", name="Least slack")
    least.click(force=True)
    expect(least).to_be_checked()
    page.get_by_role("button", name="Next step").click()
    expect(step).to_contain_text("B runs")
    expect(page.get_by_test_id("knows")).to_contain_text("8.5 s")
    assert_accessible(page)
    page.get_by_role("button", name="Last step").click()
    expect(step).to_contain_text("A gives its result at 10 s, in time; B gives its result at 10.5 s, in time.")


def test_which_watermarks_sweep(page: Page) -> None:
    page.goto("/learn/klink-2.2?step=4")
    step = page.get_by_test_id("step")
    expect(step).to_contain_text("Event 4")
    expect(page.locator("[data-checkpoint='(0, 3] fires']")).to_have_count(0)
    page.get_by_role("button", name="Next step").click()
    expect(step).to_contain_text("Watermark 3 sweeps, and (0, 3] fires")
    expect(page.locator("[data-checkpoint='(0, 3] fires']")).to_have_count(1)
    assert_accessible(page)
    page.goto("/learn/klink-3.1?step=7")
    expect(step).to_contain_text("Window [1, 2) still waits for top")
    expect(page.get_by_test_id("knows").get_by_role("row").last).to_have_text("the operator12")


def test_hosts_tell_one_another_what_they_know(page: Page) -> None:
    page.goto("/learn/klink-3.2?step=2")
    expect(page.get_by_test_id("step")).to_contain_text("B knows no watermark of Q.")
    expect(page.locator("[data-message='A to B at 0 s, progress']")).to_have_attribute("data-state", "told")
    expect(page.get_by_test_id("knows").get_by_role("row").nth(2)).to_contain_text("not known")
    page.get_by_role("button", name="Next step").click()
    expect(page.get_by_test_id("knows").get_by_role("row").nth(2)).to_contain_text("5 s")
    assert_accessible(page)
