"use strict";
// What the person did, and what the page shows of it. Everything shown is made anew from `state` by `render`.

const MOST_WORDS = 4;
const BARS = 5;

const data = JSON.parse(byId("data").textContent);
const digits = readDigits(data);
const models = data.models.map(({ name, weights, witnesses }) => ({
  name,
  witnesses,
  sizes: data.sizes,
  parameters: parametersOf(weights, data.tensors),
}));
const lastLayer = `blocks.${data.sizes.num_layers - 1}.cross_attn`;

const state = {
  model: 0,
  scene: drawScene(digits),
  question: { task: "where", digit: 0, position: 0, row: 0 },
  off: new Set(),
  picked: Math.floor(9 * Math.random()),
  word: 0, // which word of the answer the maps belong to
  next: [...Array(10).keys()].map((label) => nextWithLabel(digits, label, -1)), // of each label, the next to put in
};
state.question.digit = digits[state.scene[state.picked]].label;
const past = []; // scenes, for undo
let shown = ""; // the answer on the page

const cells = makeCells(data.positions);
const palette = makePalette();
const maps = ["Value-weighted", ...[...Array(data.sizes.num_heads).keys()].map((head) => `Head ${head}`)].map(
  (title, number) => makeSceneMap(title, number > 0),
);

// ---------------------------------------------------------------- what is shown

function render(before = "") {
  const model = models[state.model];
  const patches = patchesOf(state.scene, digits, data);
  const { words, pass } = answer(model, promptOf(state.question, data), patches, data.end, MOST_WORDS, state.off);
  state.word = Math.min(state.word, words.length - 1);
  const word = words[state.word];
  const asked = placesAsked(state.question, state.scene, digits);
  const askedNow = state.question.task === "read" ? asked.slice(state.word, state.word + 1) : asked;
  renderScene(askedNow);
  renderQuestion();
  renderAnswer(words, before);
  renderWordChoice(words);
  writeBars(byId("bars"), word.probabilities, data.words, BARS);
  byId("bars-note").textContent = words.length > 1 ? `for word ${state.word + 1}` : "";
  renderMaps(pass, word, askedNow);
  renderWordMaps(pass, words, word);
  byId("undo").disabled = past.length === 0;
  byId("all-on").disabled = state.off.size === 0;
}

function renderScene(asked) {
  cells.forEach((cell, place) => {
    const digit = state.scene[place];
    const position = data.positions[place];
    writeCell(cell, { digits, digit, position, picked: state.picked === place, asked: asked.includes(place) });
  });
  palette.forEach(({ image, label }) => setPicture(image, digits, state.next[label]));
  for (const name of document.querySelectorAll(".picked-name")) name.textContent = data.positions[state.picked];
  for (const option of byId("swap-with").options) option.disabled = Number(option.value) === state.picked;
  if (Number(byId("swap-with").value) === state.picked) byId("swap-with").value = (state.picked + 1) % 9;
}

function renderQuestion() {
  const { task, digit, position, row } = state.question;
  byId("task").value = task;
  byId("digit").value = digit;
  byId("position").value = position;
  byId("row").value = row;
  byId("digit-field").hidden = task !== "where";
  byId("position-field").hidden = task !== "what";
  byId("row-field").hidden = task !== "read";
}

function renderAnswer(words, before) {
  const said = words.map(({ id }) => data.words[id]);
  const { right, sentence } = judge(said, state.question, state.scene, digits, data);
  const sure = words.reduce((product, { id, probabilities }) => product * probabilities[id], 1);
  shown = `${said.join(" ")}, ${probability(sure)}`;
  setText(byId("said"), said.join(" "));
  setText(byId("sure"), probability(sure));
  setText(byId("verdict"), sentence);
  byId("verdict").className = right === null ? "soft" : right ? "right" : "wrong";
  const off = [...state.off].map(nameOfHead).sort();
  const without = off.length ? `Without ${off.join(", ")}. ` : "";
  setText(byId("before"), without + (before && before !== shown ? `Before: ${before}.` : ""));
}

function nameOfHead(key) {
  const [layer, head] = key.split("/");
  return layer === lastLayer ? `head ${head}` : `${titleOf(layer)}, head ${head}`;
}

function titleOf(layer) {
  return `Block ${Number(layer.split(".")[1]) + 1}`;
}

/** A radio button for each word of the answer; there is nothing to choose where it has one. */
function renderWordChoice(words) {
  const field = byId("word-field");
  field.hidden = words.length < 2;
  const choices = words.map(({ id }, number) => {
    const input = element("input", { type: "radio", name: "word", value: number, checked: number === state.word });
    input.addEventListener("change", () => {
      state.word = number;
      render();
      byId("word-field").querySelector("input:checked").focus();
    });
    return element("label", {}, input, ` word ${number + 1}: ${data.words[id]}`);
  });
  field.replaceChildren(field.firstElementChild, ...choices);
}

function renderMaps(pass, { position }, asked) {
  const { weights, weighted } = pass.attentions[lastLayer];
  const sum = weighted[position].reduce((total, length) => total + length, 0);
  const shares = [weighted[position].map((length) => (sum ? length / sum : 0)), ...weights.map((head) => head[position])];
  maps.forEach((map, number) => {
    const isOff = state.off.has(`${lastLayer}/${number - 1}`);
    const about = { scene: state.scene, digits, positions: data.positions, asked, isOff };
    writeSceneMap(map, { shares: shares[number], ...about });
  });
  if (!sum) maps[0].peak.textContent = "All heads are off: nothing is added";
}

function renderWordMaps(pass, words, { id, position }) {
  const { task } = state.question;
  const before = ["<bos>", ...wordsAsked(state.question, data), ...words.map((word) => data.words[word.id])];
  byId("maps-note").textContent = `From “${before[position]}”, the word before “${data.words[id]}”, to the nine patches.`;
  const focused = document.activeElement?.dataset?.key;
  for (const [number, root] of [...byId("word-maps").children].entries()) {
    const layer = `blocks.${number}.self_attn`;
    writeWordTable(root, {
      title: titleOf(layer),
      words: before.slice(0, position + 1),
      heads: pass.attentions[layer].weights.map((head) => head[position].slice(0, position + 1)),
      isOff: (head) => state.off.has(`${layer}/${head}`),
      onToggle: (head) => toggleHead(layer, head),
    });
  }
  if (focused) document.querySelector(`[data-key="${focused}"]`)?.focus();
}

// ---------------------------------------------------------------- what is done

/** Change the scene, so that it can be undone, and show the answer beside the one before. */
function changeScene(change) {
  past.push([...state.scene]);
  const before = shown;
  change();
  render(before);
}

function put(place, label) {
  state.picked = place;
  changeScene(() => {
    state.scene[place] = state.next[label];
    state.next[label] = nextWithLabel(digits, label, state.next[label]);
  });
}

function blank(place) {
  if (state.scene[place] === null) return;
  changeScene(() => (state.scene[place] = null));
}

function swap(first, second) {
  if (first === second) return;
  state.picked = second;
  changeScene(() => ([state.scene[first], state.scene[second]] = [state.scene[second], state.scene[first]]));
}

function pick(place) {
  state.picked = place;
  render();
  cells[place].input.focus();
}

function toggleHead(layer, head) {
  const before = shown;
  const key = `${layer}/${head}`;
  if (!state.off.delete(key)) state.off.add(key);
  render(before);
}

function keyInScene(event) {
  const moves = { ArrowUp: -3, ArrowDown: 3, ArrowLeft: -1, ArrowRight: 1 };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in moves) pick((state.picked + moves[event.key] + 9) % 9);
  else if (/^[0-9]$/.test(event.key)) put(state.picked, Number(event.key));
  else if (event.key === "Delete" || event.key === "Backspace") blank(state.picked);
  else return;
  event.preventDefault();
}

/** Drag with the mouse or a pen. A finger scrolls; it picks a patch and then a digit. */
function dragFrom(source, picture, drop) {
  source.addEventListener("pointerdown", (down) => {
    if (down.pointerType === "touch" || down.button !== 0) return;
    let ghost = null;
    const move = (event) => {
      if (!ghost && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > 6 && picture()) {
        ghost = element("img", { class: "ghost", alt: "", src: picture() });
        document.body.append(ghost);
      }
      if (ghost) ghost.style.translate = `${event.clientX}px ${event.clientY}px`;
    };
    const up = (event) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", up);
      if (!ghost) return;
      ghost.remove();
      addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", swallow, { capture: true }));
      const target = document.elementFromPoint(event.clientX, event.clientY)?.closest(".cell");
      if (target && event.type === "pointerup") drop(Number(target.dataset.place));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up);
  });
}

/** A drag ends with a click on where it began; that click means nothing. */
function swallow(event) {
  event.preventDefault();
  event.stopPropagation();
}

function onChange(id, write) {
  byId(id).addEventListener("change", (event) => {
    const before = shown;
    write(event.target.value);
    state.word = 0;
    render(id === "model" ? before : "");
  });
}

// ---------------------------------------------------------------- the start

function connectScene() {
  byId("cells").append(...cells.map(({ root }) => root));
  byId("cells").addEventListener("keydown", keyInScene);
  cells.forEach(({ root, input }, place) => {
    input.addEventListener("change", () => pick(place));
    const picture = () => state.scene[place] !== null && pictureOf(digits, state.scene[place]);
    dragFrom(root, picture, (target) => swap(place, target));
  });
  byId("palette").append(...palette.map(({ root }) => root));
  palette.forEach(({ root, label }) => {
    root.addEventListener("click", () => put(state.picked, label));
    dragFrom(root, () => pictureOf(digits, state.next[label]), (place) => put(place, label));
  });
  fillSelect(byId("swap-with"), data.positions);
  byId("swap").addEventListener("click", () => swap(state.picked, Number(byId("swap-with").value)));
  byId("blank").addEventListener("click", () => blank(state.picked));
  byId("new-scene").addEventListener("click", () => changeScene(() => (state.scene = drawScene(digits))));
  byId("undo").addEventListener("click", () => {
    const before = shown;
    state.scene = past.pop();
    render(before);
  });
}

/** The dialogue in which somebody writes a digit of their own. */
function connectWriting() {
  const dialog = byId("writing");
  const pad = connectPad(byId("pad"), (strokes) => {
    byId("put-written").disabled = byId("wipe").disabled = byId("written").hidden = strokes.length === 0;
    if (strokes.length) byId("written").src = pictureOfPixels(pixelsOf(strokes));
  });
  fillSelect(byId("written-label"), [...Array(10).keys()].map(String));
  byId("written-label").prepend(element("option", { value: "" }, "not said"));
  byId("write").addEventListener("click", () => {
    pad.wipe();
    byId("written-label").value = "";
    dialog.showModal();
  });
  byId("wipe").addEventListener("click", pad.wipe);
  byId("cancel").addEventListener("click", () => dialog.close());
  byId("put-written").addEventListener("click", () => {
    const label = byId("written-label").value;
    digits.push({ label: label === "" ? null : Number(label), pixels: pixelsOf(pad.strokes) });
    dialog.close();
    changeScene(() => (state.scene[state.picked] = digits.length - 1));
  });
}

function connectQuestion() {
  fillSelect(byId("digit"), [...Array(10).keys()].map(String));
  fillSelect(byId("position"), data.positions);
  fillSelect(byId("row"), data.rows);
  fillSelect(byId("model"), models.map(({ name }) => name));
  byId("model-field").hidden = models.length < 2;
  onChange("task", (value) => (state.question.task = value));
  for (const part of ["digit", "position", "row"]) onChange(part, (value) => (state.question[part] = Number(value)));
  onChange("model", (value) => (state.model = Number(value)));
}

function connectMaps() {
  byId("weighted-map").prepend(maps[0].root);
  byId("head-maps").append(...maps.slice(1).map(({ root }) => root));
  maps.slice(1).forEach(({ toggle }, head) => {
    toggle.input.addEventListener("change", () => toggleHead(lastLayer, head));
  });
  byId("all-on").addEventListener("click", () => {
    const before = shown;
    state.off.clear();
    render(before);
  });
  const blocks = [...Array(data.sizes.num_layers).keys()];
  const region = (number) => ({ class: "scroll", tabindex: 0, role: "region", "aria-label": `Block ${number + 1}` });
  byId("word-maps").append(...blocks.map((number) => element("div", region(number))));
}

/** Say whether this page computes what PyTorch computed when the page was written. */
function showWitness() {
  const count = models.reduce((sum, { witnesses }) => sum + witnesses.length, 0);
  const apart = Math.max(
    ...models.map((model) => differenceFromWitnesses(model, model.witnesses, digits, data)),
  );
  const agrees = apart < 1e-4;
  const largest = `largest difference of a score ${apart.toExponential(0)}`;
  byId("witness").textContent = agrees
    ? `Compared with PyTorch on ${count} questions when this page was opened: ${largest}.`
    : `This page does not compute what the model computes: ${largest} on ${count} questions. ` +
      "The page follows lesson 3's formulas; compare your forward with them.";
  byId("witness").classList.toggle("wrong", !agrees);
}

connectScene();
connectWriting();
connectQuestion();
connectMaps();
render();
document.querySelector("main").hidden = false;
showWitness();
