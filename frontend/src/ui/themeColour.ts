/** What a token is in the theme on show; `light-dark()` is resolved by the browser. */
export function themeColour(): (token: string) => string {
  const known = new Map<string, string>();
  const probe = window.document.body.appendChild(window.document.createElement("i"));
  probe.hidden = true;
  const colour = (token: string) => {
    let value = known.get(token);
    if (value === undefined) {
      probe.style.color = `var(${token})`;
      value = getComputedStyle(probe).color;
      known.set(token, value);
    }
    return value;
  };
  queueMicrotask(() => probe.remove());
  return colour;
}
