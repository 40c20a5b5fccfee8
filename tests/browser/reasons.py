"""Controls that cannot be used say why."""

from __future__ import annotations

from playwright.sync_api import Page

SILENT = """() => [...document.querySelectorAll(':is(button, input, select, textarea):disabled, [aria-disabled="true"]')]
  .filter((one) => one.checkVisibility() && !one.closest('[title]:not([title=""])'))
  .map((one) => one.outerHTML.slice(0, 160))"""


def assert_reasons(page: Page) -> None:
    """Each disabled control, or what it stands in, has a title that says why."""
    silent = page.evaluate(SILENT)
    assert not silent, f"{page.url}: disabled without a reason: {silent}"
