// The search. Its index is a script that is loaded when the field is first used: a page opened from a disk may load
// scripts, and may not fetch data.
"use strict";
(() => {
  const MOST = 12, AROUND = 70; // results; characters of the text before and after a word that was found
  const root = document.documentElement.dataset.root;
  const box = document.querySelector("search"), field = box.querySelector("input");
  const results = box.querySelector(".results"), status = box.querySelector("p"), list = box.querySelector("ul");
  let index = null; // promise of [path, title, heading, text] for each section

  function loadIndex() {
    index ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root + "search-index.js";
      script.onload = () => resolve(window.SEARCH_INDEX);
      script.onerror = () => reject(new Error("the index of the search is missing"));
      document.head.append(script);
    });
    return index;
  }

  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  // A word is found where a word of the text begins with it.
  const pattern = (word) => new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[^\p{L}\p{N}_]/gu, "\\$&")}`, "u");

  /** Return how well a section fits: 0 if it lacks a word; a word in a heading or title counts more. */
  function score([, title, heading, text], patterns) {
    let sum = 0;
    for (const found of patterns) {
      const points = 6 * found.test(plain(heading)) + 3 * found.test(plain(title)) + found.test(plain(text));
      if (points === 0) return 0;
      sum += points;
    }
    return sum;
  }

  function excerpt(text, patterns) {
    const at = Math.max(0, plain(text).search(patterns[0]));
    const from = Math.max(0, at - AROUND), to = at + AROUND;
    return (from > 0 ? "…" : "") + text.slice(from, to) + (to < text.length ? "…" : "");
  }

  function item([path, title, heading, text], patterns) {
    const link = document.createElement("a"), entry = document.createElement("li"), shown = document.createElement("p");
    link.href = root + path;
    link.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
    shown.textContent = excerpt(text, patterns);
    entry.append(link, shown);
    return entry;
  }

  async function search() {
    const query = field.value, words = plain(query).match(/\S+/gu) ?? [];
    results.hidden = words.length === 0;
    if (words.length === 0) return;
    const sections = await loadIndex(), patterns = words.map(pattern);
    if (query !== field.value) return; // more was typed while the index was loaded
    const found = sections.map((section) => [score(section, patterns), section]).filter(([points]) => points > 0);
    found.sort(([one], [other]) => other - one);
    status.textContent = found.length === 0 ? "Nothing found." : `${found.length} section${found.length === 1 ? "" : "s"}`;
    list.replaceChildren(...found.slice(0, MOST).map(([, section]) => item(section, patterns)));
  }

  field.addEventListener("focus", loadIndex);
  field.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") results.hidden = true;
    if (event.key === "Enter" && event.target === field) list.querySelector("a")?.click();
  });
  box.hidden = false;
})();
