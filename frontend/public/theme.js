/* Runs before the first paint, so that a forced theme never flashes. A file of its own: the page allows no inline scripts. */
try {
  const theme = localStorage.getItem("millrace.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage may be off */ }
