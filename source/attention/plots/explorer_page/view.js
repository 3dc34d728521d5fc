"use strict";
// Elements of the page. Each function makes elements, or writes values into them; none computes or remembers.

/** Make an element; attributes that are true stand without a value, and those that are false are left out. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

/** A probability: what is nearly 0 or 1 is told apart from 0 and 1. */
function probability(share) {
  if (share > 0.9995) return "> 99.9 %";
  if (share < 0.0005) return "< 0.1 %";
  return share < 0.01 || share > 0.99 ? `${(100 * share).toFixed(1)} %` : percent(share);
}

/** Write a text where it differs; a screen reader reads a live region again that is written again. */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Pictures of digits as data URLs: ink on nothing, so that the colour behind shows through. */
const pictures = new Map();

function pictureOf(digits, place) {
  if (!pictures.has(place)) pictures.set(place, pictureOfPixels(digits[place].pixels));
  return pictures.get(place);
}

function pictureOfPixels(pixels) {
  const canvas = element("canvas", { width: 8, height: 8 });
  const image = canvas.getContext("2d").createImageData(8, 8);
  pixels.forEach((pixel, number) => (image.data[4 * number + 3] = Math.round((pixel / 16) * 255)));
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/** Show a digit in an <img>, or nothing. The text beside it says what it is. */
function setPicture(image, digits, place) {
  image.hidden = place === null;
  if (place !== null) image.src = pictureOf(digits, place);
}

function fillSelect(select, texts) {
  select.replaceChildren(...texts.map((text, value) => element("option", { value }, text)));
}

/** The nine places of the scene as radio buttons. */
function makeCells(positions) {
  return positions.map((position, place) => {
    const input = element("input", { type: "radio", name: "cell", value: place, class: "hidden" });
    const image = element("img", { alt: "", draggable: "false" });
    const text = element("span", { class: "hidden" });
    return { root: element("label", { class: "cell", "data-place": place }, input, image, text), input, image, text };
  });
}

function writeCell(cell, { digits, digit, position, picked, asked }) {
  setPicture(cell.image, digits, digit);
  cell.input.checked = picked;
  cell.root.classList.toggle("asked", asked);
  cell.text.textContent = `${position}: ${nameOfDigit(digits, digit)}${asked ? ", the patch in question" : ""}`;
}

function makePalette() {
  return [...Array(10).keys()].map((label) => {
    const image = element("img", { alt: "", draggable: "false" });
    const button = element("button", { type: "button", "aria-label": `Put in a ${label}` }, image);
    return { root: button, image, label };
  });
}

/** The switch of a head; `name` is what a screen reader says. */
function makeSwitch(name) {
  const input = element("input", { type: "checkbox", role: "switch", checked: true, "aria-label": `${name} on` });
  return { root: element("label", { class: "switch" }, input), input };
}

/** A map over the scene: a table with a picture and a number in each cell. Without a switch it is no head's. */
function makeSceneMap(title, hasSwitch) {
  const toggle = hasSwitch ? makeSwitch(title) : null;
  const heading = element("h3", {}, title);
  const peak = element("caption", {});
  const places = [...Array(9).keys()].map(() => {
    const image = element("img", { alt: "" });
    const what = element("span", { class: "hidden" });
    const share = element("span", { class: "share" });
    const picture = element("span", { class: "picture" }, image);
    return { root: element("td", {}, picture, what, share), image, what, share };
  });
  const rows = [0, 3, 6].map((first) => element("tr", {}, ...places.slice(first, first + 3).map(({ root }) => root)));
  const table = element("table", { class: "scene-map" }, peak, element("tbody", {}, ...rows));
  const head = element("div", { class: "row between" }, heading, ...(toggle ? [toggle.root] : []));
  return { root: element("div", { class: "map" }, head, table), toggle, peak, places };
}

function writeSceneMap(map, { shares, scene, digits, positions, asked, isOff }) {
  const best = largestAt(shares);
  map.root.classList.toggle("off", isOff);
  if (map.toggle) map.toggle.input.checked = !isOff;
  map.peak.textContent = `${isOff ? "Off. " : ""}${percent(shares[best])} on ${positions[best]}`;
  map.places.forEach(({ root, image, what, share }, place) => {
    root.style.setProperty("--share", `${100 * shares[place]}%`);
    root.classList.toggle("asked", asked.includes(place));
    setPicture(image, digits, scene[place]);
    what.textContent = `${positions[place]}, ${nameOfDigit(digits, scene[place])}: `;
    share.textContent = percent(shares[place]);
  });
}

/** A block's self-attention: a row for each head, a column for each word. */
function writeWordTable(root, { title, words, heads, isOff, onToggle }) {
  const top = words.map((word) => element("th", { scope: "col" }, word));
  const rows = heads.map((shares, head) => {
    const toggle = makeSwitch(`${title}, head ${head}`);
    toggle.input.checked = !isOff(head);
    toggle.input.dataset.key = `${title}/${head}`;
    toggle.input.addEventListener("change", () => onToggle(head));
    const cells = shares.map((share) => {
      const cell = element("td", {}, percent(share));
      cell.style.setProperty("--share", `${100 * share}%`);
      return cell;
    });
    const name = element("th", { scope: "row" }, element("span", { class: "row" }, `Head ${head}`, toggle.root));
    return element("tr", { class: isOff(head) ? "off" : "" }, name, ...cells);
  });
  const head = element("thead", {}, element("tr", {}, element("td", {}), ...top));
  const table = element("table", { class: "word-map" }, element("caption", {}, title), head, element("tbody", {}, ...rows));
  root.replaceChildren(table);
}

function writeBars(body, probabilities, words, most) {
  const order = [...probabilities.keys()].sort((one, other) => probabilities[other] - probabilities[one]);
  const rows = order.slice(0, most).map((id) => {
    const bar = element("span", { class: "bar" });
    bar.style.setProperty("--share", `${100 * probabilities[id]}%`);
    const number = element("span", {}, probability(probabilities[id]));
    return element("tr", {}, element("th", { scope: "row" }, words[id]), element("td", {}, bar, number));
  });
  body.replaceChildren(...rows);
}
