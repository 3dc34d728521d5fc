"use strict";
// A digit that somebody writes: strokes become 8×8 pixels as the data set was made. A bitmap of 32×32 that the digit
// fills, cut into blocks of 4×4; a pixel is the number of dark points in its block, 0 to 16.

const BITMAP = 32;
const BLOCK = 4;
const INK = 4.5; // width of a stroke, in points of the bitmap

/** Scale and move strokes, lists of [x, y], so that they fill the bitmap and keep their proportions. */
function fitted(strokes) {
  const points = strokes.flat();
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const scale = (BITMAP - INK) / Math.max(width, height, 1e-9);
  const middle = BITMAP / 2;
  return strokes.map((stroke) =>
    stroke.map(([x, y]) => [middle + (x - left - width / 2) * scale, middle + (y - top - height / 2) * scale]),
  );
}

/** Draw strokes. One of a single place is a disc: the standard has browsers leave out lines without length, caps and all. */
function drawStrokes(context, strokes, ink) {
  Object.assign(context, { lineWidth: ink, lineCap: "round", lineJoin: "round", fillStyle: context.strokeStyle });
  for (const [first, ...rest] of strokes) {
    const moves = rest.some(([x, y]) => x !== first[0] || y !== first[1]);
    context.beginPath();
    if (moves) {
      context.moveTo(...first);
      for (const point of rest) context.lineTo(...point);
      context.stroke();
    } else {
      context.arc(...first, ink / 2, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

/** The 64 pixels of what was written, 0 to 16. */
function pixelsOf(strokes) {
  const context = element("canvas", { width: BITMAP, height: BITMAP }).getContext("2d");
  drawStrokes(context, fitted(strokes), INK);
  const image = context.getImageData(0, 0, BITMAP, BITMAP).data;
  const pixels = new Uint8Array((BITMAP / BLOCK) ** 2);
  for (let y = 0; y < BITMAP; y++) {
    for (let x = 0; x < BITMAP; x++) {
      const block = Math.floor(y / BLOCK) * (BITMAP / BLOCK) + Math.floor(x / BLOCK);
      if (image[4 * (y * BITMAP + x) + 3] > 127) pixels[block]++;
    }
  }
  return pixels;
}

/** Let somebody write on a canvas; returns the strokes, which grow as they write, and how to wipe them out. */
function connectPad(canvas, onChange) {
  const strokes = [];
  const context = canvas.getContext("2d");
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.x) / box.width) * canvas.width, ((event.clientY - box.y) / box.height) * canvas.height];
  };
  const show = () => {
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.strokeStyle = getComputedStyle(canvas).color;
    drawStrokes(context, strokes, canvas.width / 9);
    onChange(strokes);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    strokes.push([point(event)]);
    show();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    strokes.at(-1).push(point(event));
    show();
  });
  return {
    strokes,
    wipe() {
      strokes.length = 0;
      show();
    },
  };
}
