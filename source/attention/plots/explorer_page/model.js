"use strict";
// The forward pass of lesson 3's MiniVLM. Its parts and their names are those of the notebook.
// A token is a vector; "off" is a set of heads that add nothing, each written as layer/head.

/** The parameters of a model by name; `tensors` says in which order they stand, and how large each is. */
function parametersOf(weights, tensors) {
  const numbers = floatsOf(weights);
  const parameters = {};
  let place = 0;
  for (const [name, shape] of tensors) {
    const count = shape.reduce((product, size) => product * size, 1);
    parameters[name] = numbers.subarray(place, place + count);
    place += count;
  }
  return parameters;
}

/** Row number `row` of a table whose rows are `width` numbers wide. */
function rowOf(table, row, width) {
  return Float64Array.from(table.subarray(row * width, (row + 1) * width));
}

function normalised(model, name, tokens) {
  const [scale, shift] = [model.parameters[`${name}.weight`], model.parameters[`${name}.bias`]];
  return tokens.map((token) => layerNorm(token, scale, shift));
}

/** Linear, GELU, linear: the aligner and each block's feed-forward. */
function twoLayers(model, name, tokens) {
  const of = (part) => model.parameters[`${name}.${part}`];
  return tokens.map((token) =>
    linear(of("2.weight"), gelu(linear(of("0.weight"), token, of("0.bias"))), of("2.bias")),
  );
}

/**
 * The weights of one head: how much each token takes of each token of the context.
 * With `causal`, token t sees the first t + 1 alone; the others get 0.
 */
function headWeights(queries, keys, start, width, causal) {
  return queries.map((query, t) => {
    const seen = causal ? keys.slice(0, t + 1) : keys;
    const scores = seen.map((key) => {
      let sum = 0;
      for (let i = start; i < start + width; i++) sum += query[i] * key[i];
      return sum / Math.sqrt(width);
    });
    const weights = softmax(scores);
    return keys.map((_, s) => (s < weights.length ? weights[s] : 0));
  });
}

/** What a head of a value becomes on its way out: its slice of W_O times its part of the value. */
function throughOutput(output, value, start, width) {
  const size = value.length;
  return Float64Array.from({ length: output.length / size }, (_, row) => {
    let sum = 0;
    for (let i = start; i < start + width; i++) sum += output[row * size + i] * value[i];
    return sum;
  });
}

/**
 * Multi-head attention of the tokens to the context.
 * Returns what is added to each token, the weights [head][t][s], and the value-weighted map [t][s].
 */
function attend(model, layer, tokens, context, causal, off) {
  const of = (part) => model.parameters[`${layer}.${part}.weight`];
  const [queries, keys, values] = [
    tokens.map((token) => linear(of("W_Q"), token)),
    context.map((token) => linear(of("W_K"), token)),
    context.map((token) => linear(of("W_V"), token)),
  ];
  const heads = model.sizes.num_heads;
  const width = queries[0].length / heads;
  const weights = [];
  // brought[t][s]: the vector that token t gets from place s, over all heads together
  const brought = tokens.map((token) => context.map(() => new Float64Array(token.length)));
  for (let head = 0; head < heads; head++) {
    weights.push(headWeights(queries, keys, head * width, width, causal));
    if (off.has(`${layer}/${head}`)) continue;
    const parts = values.map((value) => throughOutput(of("W_O"), value, head * width, width));
    brought.forEach((row, t) =>
      row.forEach((sum, s) => {
        const weight = weights[head][t][s];
        for (let i = 0; i < sum.length; i++) sum[i] += weight * parts[s][i];
      }),
    );
  }
  return {
    added: brought.map((row) => row.reduce(plus)),
    weights,
    weighted: brought.map((row) => row.map(lengthOf)),
  };
}

/** One block: the tokens after it, and its attentions by layer. */
function block(model, name, tokens, imageTokens, off) {
  const attentions = {};
  const step = (part, norm, context, causal) => {
    const layer = `${name}.${part}`;
    const asking = normalised(model, `${name}.${norm}`, tokens);
    attentions[layer] = attend(model, layer, asking, context ?? asking, causal, off);
    tokens = tokens.map((token, t) => plus(token, attentions[layer].added[t]));
  };
  step("self_attn", "norm1", null, true);
  if (`${name}.norm2.weight` in model.parameters) step("cross_attn", "norm2", imageTokens, false);
  const thought = twoLayers(model, `${name}.ffn`, normalised(model, `${name}.norm3`, tokens));
  return { tokens: tokens.map((token, t) => plus(token, thought[t])), attentions };
}

/**
 * Scores for the next word at every position.
 * tokenIds: numbers; patches: vectors of pixels, one for each place of the scene.
 * Returns logits [t][word], and the attentions of every layer by its name.
 */
function forward(model, tokenIds, patches, off = new Set()) {
  const { parameters, sizes } = model;
  const at = (table, place) => rowOf(parameters[table], place, sizes.d_model);
  const aligned = twoLayers(model, "aligner", patches);
  const placed = aligned.map((token, place) => plus(token, at("image_positions.embedding", place)));
  const imageTokens = normalised(model, "image_norm", placed);
  let tokens = tokenIds.map((id, place) => plus(at("embedding.weight", id), at("text_positions.embedding", place)));
  const attentions = {};
  for (let number = 0; number < sizes.num_layers; number++) {
    const after = block(model, `blocks.${number}`, tokens, imageTokens, off);
    tokens = after.tokens;
    Object.assign(attentions, after.attentions);
  }
  const logits = normalised(model, "norm", tokens).map((token) => linear(parameters["head.weight"], token));
  return { logits, attentions };
}

/**
 * The answer, word by word, each the likeliest, until <eos> or `most` words.
 * Returns the pass over the question and all words but the last, and for each word: its id, the position that it was
 * read from, and the probabilities of all words there.
 */
function answer(model, promptIds, patches, endId, most, off) {
  const tokenIds = [...promptIds];
  const words = [];
  let pass;
  while (tokenIds.length <= model.sizes.max_tokens && words.length < most) {
    pass = forward(model, tokenIds, patches, off);
    const position = tokenIds.length - 1;
    const probabilities = softmax(pass.logits[position]);
    const id = largestAt(probabilities);
    if (id === endId && words.length) break;
    words.push({ id, position, probabilities });
    if (id === endId) break;
    tokenIds.push(id);
  }
  return { words, pass };
}
