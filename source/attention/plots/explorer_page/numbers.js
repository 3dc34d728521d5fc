"use strict";
// Arithmetic on vectors, as PyTorch does it. A weight is stored in 32 bits; sums are made in 64.

/** The bytes of a base64 text. */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** The numbers of a base64 text of 32-bit floats, the lowest byte first. */
function floatsOf(text) {
  const bytes = bytesOf(text);
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, place) => view.getFloat32(4 * place, true));
}

/** weight (outputs, inputs) times a vector (inputs), plus the bias (outputs) if there is one. */
function linear(weight, vector, bias) {
  const inputs = vector.length;
  const output = new Float64Array(weight.length / inputs);
  for (let row = 0; row < output.length; row++) {
    let sum = bias ? bias[row] : 0;
    for (let column = 0; column < inputs; column++) sum += weight[row * inputs + column] * vector[column];
    output[row] = sum;
  }
  return output;
}

function plus(one, other) {
  return one.map((number, place) => number + other[place]);
}

/** nn.LayerNorm: the population variance, and 0.00001 under the root. */
function layerNorm(vector, scale, shift) {
  const mean = vector.reduce((sum, number) => sum + number, 0) / vector.length;
  const variance = vector.reduce((sum, number) => sum + (number - mean) ** 2, 0) / vector.length;
  return vector.map((number, place) => ((number - mean) / Math.sqrt(variance + 1e-5)) * scale[place] + shift[place]);
}

/** The error function, by a series whose terms are all of one sign, so that nothing cancels. */
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x); // 1 − |erf| is below 3e-17 there
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** nn.GELU without approximation. */
function gelu(vector) {
  return vector.map((number) => (number * (1 + erf(number / Math.SQRT2))) / 2);
}

/** What e to the power of each score makes of their sum; the largest score is subtracted first. */
function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

function lengthOf(vector) {
  return Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
}

function largestAt(numbers) {
  return numbers.reduce((best, number, place) => (number > numbers[best] ? place : best), 0);
}
