"""What a person does on the canvas, for the tests."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

STILL = """() => new Promise((go) => {
  const view = document.querySelector(".react-flow__viewport");
  let last = "", same = 0;
  const look = () => {
    same = view.style.transform === last ? same + 1 : 0;
    last = view.style.transform;
    if (same >= 5) go(last); else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""  # a move changes the view from its third frame on


class Canvas:
    """Drives the canvas by mouse and keyboard only."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, experiment_id: str) -> None:
        self.page.goto(f"/experiments/{experiment_id}")
        self.stage.wait_for()

    def new(self) -> None:
        self.page.goto("/experiments")
        self.page.get_by_test_id("new-experiment").click()
        self.stage.wait_for()
        expect(self.page.get_by_text("Draw a query.")).to_be_visible()

    @property
    def stage(self) -> Locator:
        return self.page.get_by_test_id("stage")

    def operator(self, name: str) -> Locator:
        return self.page.get_by_test_id(f"operator-{name}")

    def drag_from_palette(self, item: str, x: float, y: float) -> None:
        """Drag an entry of the palette to a point of the stage, in px from its upper left corner."""
        self.page.get_by_test_id(f"palette-{item}").drag_to(self.stage, target_position={"x": x, "y": y})

    def drag(self, start: Locator, end: Locator) -> None:
        """Press on the middle of one thing, let go on the middle of another, in steps as a hand would."""
        a, b = start.bounding_box(), end.bounding_box()
        assert a is not None
        assert b is not None
        mouse = self.page.mouse
        mouse.move(a["x"] + a["width"] / 2, a["y"] + a["height"] / 2)
        mouse.down()
        mouse.move((a["x"] + b["x"]) / 2, (a["y"] + b["y"]) / 2, steps=6)
        mouse.move(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2, steps=6)
        mouse.up()

    def connect(self, source: str, target: str, target_port: str = "in") -> None:
        self.drag(self.page.get_by_test_id(f"port-{source}-out-out"), self.page.get_by_test_id(f"port-{target}-in-{target_port}"))
        expect(self.page.get_by_test_id(f"edge-{source}-{target}")).to_be_visible()

    def place(self, operator: str, host: str) -> None:
        """Drop an operator on a host: grab it by its title."""
        self.drag(self.operator(operator).locator("header b"), self.page.get_by_test_id(f"host-{host}"))

    def view(self) -> str:
        """Which part of the query is shown, and how large, as CSS."""
        shown: str = self.page.evaluate("() => document.querySelector('.react-flow__viewport').style.transform")
        return shown

    def wait_until_still(self) -> str:
        """Wait until the view moves no more; return it."""
        shown: str = self.page.evaluate(STILL)
        return shown

    def wait_until_saved(self) -> None:
        expect(self.page.get_by_test_id("saved")).to_have_attribute("data-state", "saved")

    def run(self) -> None:
        button = self.page.get_by_test_id("run")
        expect(button).to_have_attribute("aria-disabled", "false")
        button.click()
        self.page.wait_for_url("**/runs/*")
