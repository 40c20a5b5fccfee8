"""What axe-core finds wrong on a page. It is evaluated through the debugging protocol, so the page's content policy stays as it is."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

SOURCE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
BUSY = '[aria-busy="true"]'
STILL = """Promise.allSettled(document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity)
  .map((one) => one.finished)).then(() => true)"""  # a colour on its way to another has any contrast
RUN = f"""axe.run(WITHIN, {{runOnly: {json.dumps(RULES)}, resultTypes: ["violations"]}}).then((found) => JSON.stringify(
  found.violations.filter(({{impact}}) => impact === "serious" || impact === "critical").map(({{id, help, nodes}}) => {{
    const places = nodes.slice(0, 4).map(({{target, any}}) => `${{target.join(" ")}} ${{any[0]?.message ?? ""}}`);
    return `${{id}}: ${{help}} at ${{places.join("; ")}}`;
  }})))"""


@cache
def source() -> str:
    return SOURCE.read_text()


def assert_accessible(page: Page, within: str = "") -> None:
    """No violation of WCAG 2.2 AA or of axe's best practice that axe calls serious or critical.

    within: a part of the page; of an open menu that lies over other things, which is closed before they are used.
    """
    expect(page.locator(BUSY)).to_have_count(0)  # an answer that is out of date is shown in grey until there is a new one
    session = page.context.new_cdp_session(page)

    def evaluate(expression: str) -> Any:
        answer = session.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    evaluate(source() + "; true")
    evaluate(STILL)
    found = json.loads(evaluate(RUN.replace("WITHIN", json.dumps(within) if within else "document")))
    session.detach()
    assert not found, f"{page.url}: " + "\n".join(found)
