// Shows times as the reader's clock has them, and what happens in the queue without a reload.
"use strict";

for (const time of document.querySelectorAll("time[datetime]")) {
  time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
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
