// Shows times as the reader's clock has them, and what happens in the queue without a reload.
"use strict";

const WHOLE = { dateStyle: "medium", timeStyle: "short" };
const IN_A_TABLE = { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" };
for (const time of document.querySelectorAll("time[datetime]")) {
  time.textContent = new Date(time.dateTime).toLocaleString([], time.closest("td") ? IN_A_TABLE : WHOLE);
}

const state = document.getElementById("state");
if (state && state.dataset.events) {
  const events = new EventSource(state.dataset.events);
  events.addEventListener("state", ({ data }) => { state.textContent = data; });
  events.addEventListener("graded", () => { events.close(); location.reload(); });
}

if (document.getElementById("registered")) {  // the platform closes its window
  (window.opener || window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
}
