// The list of requests, live: one stream of events for each visible page.
"use strict";

(() => {
  const MOST = 50; // rows; older ones are on the next pages
  let source = null;
  let address = null;
  let paused = false;

  const say = (text) => {
    const state = document.getElementById("live-state");
    if (state && state.textContent !== text) state.textContent = text;
  };

  const take = (event) => {
    const news = JSON.parse(event.data);
    const rows = document.getElementById("rows");
    if (!rows) return;
    // After a break the stream goes on from here.
    const next = new URL(address, location.href);
    next.searchParams.set("after", news.position);
    address = next.href;
    document.getElementById("total").textContent = news.total;
    if (news.emptied) {
      rows.replaceChildren();
      document.getElementById("older").hidden = true;
    }
    const template = document.createElement("template");
    template.innerHTML = news.rows;
    rows.prepend(template.content);
    template.innerHTML = news.again; // their answers have ended meanwhile
    for (const row of [...template.content.children]) {
      const shown = rows.querySelector(`[data-id="${row.dataset.id}"]`);
      if (shown) shown.replaceWith(row);
    }
    if (rows.rows.length > MOST) {
      while (rows.rows.length > MOST) rows.lastElementChild.remove();
      // What went out of the list is the beginning of the next page.
      const older = document.getElementById("older");
      const page = new URL(older.href);
      page.searchParams.set("before", rows.lastElementChild.dataset.id);
      older.href = page.href;
      older.hidden = false;
    }
    const empty = document.getElementById("empty");
    if (empty && rows.rows.length) empty.remove();
    say(news.left_out ? `Live: busy, ${news.left_out} of ${news.read} not shown` : "Live");
  };

  const close = () => {
    if (source) source.close();
    source = null;
  };

  const open = () => {
    close();
    if (!address || paused || document.hidden) return;
    source = new EventSource(address);
    source.addEventListener("requests", (event) => whenReleased(() => take(event)));
    source.onerror = () => say(source.readyState === EventSource.CLOSED
      ? "Not live any more: reload the page" : "No connection; trying again");
    source.onopen = () => say("Live");
  };

  const begin = () => {
    const results = document.getElementById("results");
    address = (results && results.dataset.live) || null;
    paused = false;
    open();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#live-switch");
    if (!button) return;
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    say(paused ? "Paused" : "Live");
    open();
  });
  // Browsers open few connections to a server; a hidden page gives its own back.
  document.addEventListener("visibilitychange", open);
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id === "results") begin();
  });
  addEventListener("pagehide", close);
  begin();
})();
