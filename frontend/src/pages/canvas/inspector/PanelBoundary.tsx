import { Component, type ReactNode } from "react";

/** A panel that cannot show what a document holds says so; the rest of the page goes on. */
export class PanelBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <p className="none" role="alert">
        This part of the document cannot be shown as a form. The problem list says what is wrong; undo, or fix it in an exported file and
        import that.
      </p>
    );
  }
}
