// Shows times as the reader's clock has them, and what happens in the queue without a reload.
"use strict";

const IN_A_TABLE = { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" };
const WHOLE = { year: "numeric", ...IN_A_TABLE, timeZoneName: "short" };
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

// Looks at a notebook before it is sent. The server looks again.
const upload = document.querySelector("input[type=file][data-exercises]");
if (upload) {
  upload.addEventListener("change", async () => {
    upload.setCustomValidity("");
    const [chosen] = upload.files;
    if (!chosen) return;
    upload.setCustomValidity(await problemOf(chosen, upload.dataset));
    upload.reportValidity();
  });
}

async function problemOf(file, { most, exercises, assignment }) {
  if (file.size > Number(most)) {
    return `This file is larger than ${Number(most) >> 20} MiB. Clear the notebook's outputs and save it.`;
  }
  let cells = [];
  try {
    cells = JSON.parse(await file.text()).cells.map(({ source }) => [].concat(source ?? "").join(""));
  } catch {
    return `This file is not a notebook. Choose the file ${assignment}.ipynb that Jupyter saved.`;
  }
  const found = cells.flatMap((source) => [...source.matchAll(/^# *@exercise +(\S+)/gm)].map((match) => match[1]));
  if (found.length && !found.some((id) => exercises.split(" ").includes(id))) {
    return `This is the notebook of another assignment: it has the exercise ${found[0]}. Choose the file ${assignment}.ipynb.`;
  }
  return "";
}
