// Places of faults lead into the text: <a data-line="3" data-column="5"> beside a textarea #text.
"use strict";

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-line]");
  if (!link) return;
  event.preventDefault();
  const area = document.getElementById("text");
  const lines = area.value.split("\n");
  const line = Math.min(Number(link.dataset.line), lines.length) - 1;
  const before = lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0);
  const start = before + Math.min(Number(link.dataset.column) - 1, lines[line].length);
  area.focus();
  area.setSelectionRange(start, before + lines[line].length);
  area.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(area).lineHeight));
});
