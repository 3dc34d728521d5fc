"use strict";
// Scenes and questions. A scene is nine places, read like a page; each holds the number of a digit, or null if it is
// blank. A question is {task, digit, position, row}; only what its task asks about is used.

/** The digits of the page: their labels, and their pixels from 0 to 16. A drawn digit may have the label null. */
function readDigits(data) {
  const pixels = bytesOf(data.pixels);
  const size = pixels.length / data.labels.length;
  return data.labels.map((label, place) => ({ label, pixels: pixels.subarray(place * size, (place + 1) * size) }));
}

/** What the model gets for each place: the pixels, about zero mean and unit variance. */
function patchesOf(scene, digits, data) {
  const empty = new Uint8Array(digits[0].pixels.length);
  return scene.map((digit) => {
    const pixels = digit === null ? empty : digits[digit].pixels;
    return Float64Array.from(pixels, (pixel) => Math.fround((pixel / 16 - data.mean) / data.deviation));
  });
}

/** Nine digits with different labels, drawn by chance. */
function drawScene(digits) {
  const labels = shuffled([...Array(10).keys()]).slice(0, 9);
  return labels.map((label) => {
    const same = digits.flatMap((digit, place) => (digit.label === label ? [place] : []));
    return same[Math.floor(Math.random() * same.length)];
  });
}

function shuffled(items) {
  const order = items.map((item) => [Math.random(), item]);
  return order.sort((one, other) => one[0] - other[0]).map(([, item]) => item);
}

/** A digit with this label; after `last`, so that calling it again goes through all of them. */
function nextWithLabel(digits, label, last) {
  for (let step = 1; step <= digits.length; step++) {
    const place = (last + step) % digits.length;
    if (digits[place].label === label) return place;
  }
  return last;
}

function wordsAsked({ task, digit, position, row }, data) {
  if (task === "where") return ["where", "is", "the", String(digit), "?"];
  if (task === "what") return ["what", "is", "at", data.positions[position], "?"];
  return ["read", "the", data.rows[row], "?"];
}

function promptOf(question, data) {
  return [data.begin, ...wordsAsked(question, data).map((word) => data.words.indexOf(word))];
}

/** What a place shows, as text: the label of its digit, "drawn" if somebody drew it without one, or "blank". */
function nameOfDigit(digits, digit) {
  if (digit === null) return "blank";
  return digits[digit].label === null ? "drawn" : String(digits[digit].label);
}

/** The places that a question is about, in the order of the answer's words. */
function placesAsked(question, scene, digits) {
  if (question.task === "what") return [question.position];
  if (question.task === "read") return [0, 1, 2].map((column) => 3 * question.row + column);
  return scene.flatMap((digit, place) => (digit !== null && digits[digit].label === question.digit ? [place] : []));
}

/** Whether a digit that somebody drew without a label decides if the words are right. */
function isOpen(places, said, question, scene, digits, data) {
  const drawn = scene.flatMap((digit, place) => (nameOfDigit(digits, digit) === "drawn" ? [place] : []));
  if (question.task !== "where") return places.some((place) => drawn.includes(place));
  return places.length ? drawn.some((place) => data.positions[place] === said[0]) : drawn.length > 0;
}

/** Whether the words are a right answer, or null if a drawn digit decides it; and a sentence about it. */
function judge(said, question, scene, digits, data) {
  const places = placesAsked(question, scene, digits);
  if (isOpen(places, said, question, scene, digits, data)) {
    return { right: null, sentence: "Not judged: you did not say which digit you drew." };
  }
  if (question.task === "where") {
    const names = places.map((place) => data.positions[place]);
    if (!names.length) {
      const right = said[0] === "nowhere";
      return { right, sentence: `${right ? "Right" : "Wrong"}: there is no ${question.digit} in this scene.` };
    }
    const right = said.length === 1 && names.includes(said[0]);
    return { right, sentence: `${right ? "Right" : "Wrong"}: the ${question.digit} is at ${names.join(" and ")}.` };
  }
  const shown = places.map((place) => nameOfDigit(digits, scene[place]));
  const right = shown.join(" ") === said.join(" ");
  const place = question.task === "what" ? data.positions[question.position] : `the ${data.rows[question.row]}`;
  const verb = question.task === "read" ? "reads" : shown[0] === "blank" ? "is" : "shows";
  return { right, sentence: `${right ? "Right" : "Wrong"}: ${place} ${verb} ${shown.join(" ")}.` };
}

/** The largest difference between the page's scores and those that PyTorch gave for the same questions. */
function differenceFromWitnesses(model, witnesses, digits, data) {
  let largest = 0;
  for (const { tokens, digits: scene, logits } of witnesses) {
    const own = forward(model, tokens, patchesOf(scene, digits, data)).logits.at(-1);
    logits.forEach((score, word) => (largest = Math.max(largest, Math.abs(score - own[word]))));
  }
  return largest;
}
