// What all pages share: nothing moves under a pressed button, buttons that copy, and the focus.
"use strict";

// A click counts only if it ends on the element on which it began. So what would replace a part of
// the page while a button or a finger is down waits until it is up, and the click is done.
const press = { isDown: false, waiting: [] };

window.whenReleased = (act) => {
  if (press.isDown) press.waiting.push(act);
  else act();
};

const release = () => setTimeout(() => {
  press.isDown = false;
  for (const act of press.waiting.splice(0)) act();
});

addEventListener("pointerdown", () => { press.isDown = true; }, true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, true);
addEventListener("blur", release); // of the window

document.addEventListener("htmx:beforeSwap", (event) => {
  const asked = event.detail.requestConfig.elt;
  if (!press.isDown || !asked.hasAttribute("hx-get")) return;
  event.detail.shouldSwap = false;
  // A part that is read again every second needs no more; a search is sent again.
  if (asked.matches("form")) window.whenReleased(() => htmx.trigger(asked, "submit"));
});

// What refreshes by itself says when it cannot.
const showLost = (isLost) => {
  const shown = document.getElementById("lost");
  if (!isLost && shown) shown.remove();
  if (!isLost || shown) return;
  const told = document.createElement("p");
  Object.assign(told, { id: "lost", className: "fault", role: "alert" });
  told.textContent = "The server does not answer; what is shown here may be old.";
  document.getElementById("content").prepend(told);
};

document.addEventListener("htmx:sendError", () => showLost(true));
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.xhr.status) showLost(false);
});

// Buttons that copy: <button data-copy="ID OF AN ELEMENT">. They are hidden without this script.

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

// A double click sends a form once: what it makes would be made twice.

const sent = { form: null, button: null, at: 0 };

document.addEventListener("submit", (event) => {
  const form = event.target, button = event.submitter, at = Date.now();
  if (form.method !== "post") return;
  const isSame = form === sent.form && button === sent.button;
  if (isSame && at - sent.at < 1000) event.preventDefault();
  else Object.assign(sent, { form, button, at });
});

// The menu of worlds lies over the page: Escape and a click elsewhere close it.

const menu = document.querySelector("details.drop");
document.addEventListener("click", (event) => {
  if (menu && !menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// Whoever sent a form that was refused goes on at the field that has to change.
const faulty = document.querySelector("[aria-invalid=true]");
if (faulty) faulty.focus();

document.documentElement.classList.add("scripts");
