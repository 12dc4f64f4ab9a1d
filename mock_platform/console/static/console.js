// Buttons that copy: <button data-copy="ID OF AN ELEMENT">. They are hidden without this script.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const text = "value" in source ? source.value : source.textContent;
  const label = button.dataset.label || (button.dataset.label = button.innerHTML);
  navigator.clipboard.writeText(text).then(
    () => { button.textContent = "Copied"; },
    () => {
      // Browsers give no clipboard to plain HTTP beyond this machine: select it, for the keyboard.
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "Selected: press Ctrl+C";
    },
  ).then(() => setTimeout(() => { button.innerHTML = label; }, 2000));
});

document.documentElement.classList.add("scripts");
