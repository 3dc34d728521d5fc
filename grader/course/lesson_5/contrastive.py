"""Exercises 5.5 and 5.6: the losses of CLIP and SigLIP, which learn only from pairs of pictures and texts."""

from collections.abc import Mapping
from typing import Any

import torch
from attention.contrastive import contrastive_loss, sigmoid_loss
from torch import Tensor

from grader.declare.authoring import (
    CheckSpec,
    Inputs,
    InputSampler,
    drawn,
    drawn_part,
    edits,
    given,
    normal,
    sizes,
    written_exercise,
)
from grader.declare.probes import as_number, purity_and_gradients

draw_joined_pairs = drawn(
    image=normal("* pairs d", scale=2.0), text=normal("* pairs d", scale=0.7), temperature=given("temperature")
)
draw_biased_pairs = drawn(
    image=normal("* pairs d", scale=2.0),
    text=normal("* pairs d", scale=0.7),
    temperature=given("temperature"),
    bias=given("bias"),
)


def draw_pair_and_its_opposite(sampler: InputSampler, **sizes: Any) -> Inputs:
    """Draw pairs of pictures and texts, two of which are special.

    The first text has the direction of the second picture. The last text is the opposite of the
    last picture.
    """
    inputs = {**drawn_part(image=normal("* pairs d", scale=2.0), text=normal("* pairs d", scale=0.7))(sampler, sizes)}
    inputs["text"][0], inputs["text"][-1] = 2 * inputs["image"][1], -inputs["image"][-1]
    return {**inputs, **{name: sizes[name] for name in ("temperature", "bias") if name in sizes}}


def loss_values(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the loss at the task's default numbers, and at other numbers."""
    image, text, *numbers = arguments.values()
    return {
        "loss": as_number(function(image, text), "loss"),
        "loss at other numbers": as_number(function(image, text, *numbers), "loss at other numbers"),
    }


def loss_conduct(function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return side effects of the loss, and its gradients. They need no direction, because the loss is one number."""
    numbers = {name: value for name, value in arguments.items() if not isinstance(value, Tensor)}

    def call(image: Tensor, text: Tensor) -> dict[str, Tensor]:
        return {"loss": function(image=image, text=text, **numbers)}

    tensors = {name: arguments[name] for name in ("image", "text")}
    direction = torch.ones((), dtype=tensors["image"].dtype, device=tensors["image"].device)
    return purity_and_gradients(call, tensors, {"loss": direction})


CONTRASTIVE = written_exercise("5.5 Pairs that find each other", contrastive_loss, (
    CheckSpec("values", 7, "both cross-entropies, over the similarities of all pairs",
        examples=[sizes(pairs=3, d=4, temperature=0.5)],
        trials=[sizes(pairs=5, d=7, temperature=0.3), sizes(pairs=11, d=3, temperature=1.7)]),
    CheckSpec("batch", 3, "pairs of different batches do not meet",
        examples=[sizes(batch_shape=(2,), pairs=3, d=4, temperature=0.5)],
        trials=[sizes(batch_shape=(2,), pairs=5, d=7, temperature=0.3),
            sizes(batch_shape=(3, 2), pairs=7, d=5, temperature=0.7)]),
    CheckSpec("sharp", 2, "a small temperature gives no NaN and no infinity",
        examples=[sizes(pairs=3, d=4, temperature=0.005)],
        trials=[sizes(pairs=7, d=5, temperature=0.005)], draw=draw_pair_and_its_opposite),
    CheckSpec("conduct", 2, trials=[sizes(batch_shape=(2,), pairs=5, d=3, temperature=0.2, dtype=torch.float64)],
        probe=loss_conduct),
),
    draw=draw_joined_pairs, returns=("loss",), probe=loss_values,
    difficulty=2, minutes=12, review="Pairs that find each other",
    mistakes=edits(contrastive_loss, """
    only_pictures_choose: Only the pictures choose their texts here. Let the texts choose their pictures, too, and
        take the mean of both.
        -(texts_chosen + images_chosen).mean() / 2  →  -texts_chosen.mean()
    only_texts_choose: Only the texts choose their pictures here. Let the pictures choose their texts, too, and take the
        mean of both.
        -(texts_chosen + images_chosen).mean() / 2  →  -images_chosen.mean()
    both_added (slip): The two directions are added up. Take their mean.
        -(texts_chosen + images_chosen).mean() / 2  →  -(texts_chosen + images_chosen).mean()
    pairs_added: The losses of all pairs are added up. Take their mean.
        .mean() / 2  →  .sum() / 2
    dot_products_of_pairs: Your logits use plain dot products. Cosine similarity compares directions: divide both
        vectors by their length first.
        F.normalize(image, dim=-1)  →  image
        F.normalize(text, dim=-1)  →  text
    only_texts_normalised: Your code normalises the texts, but not the pictures. Cosine similarity needs both
        sides normalised.
        F.normalize(image, dim=-1)  →  image
    only_pictures_normalised: Your code normalises the pictures, but not the texts. Cosine similarity needs both
        sides normalised.
        F.normalize(text, dim=-1)  →  text
    along_the_pairs: Your code takes the lengths over the pairs. Divide each vector by its own length: use dim=-1.
        F.normalize(image, dim=-1)  →  F.normalize(image, dim=-2)
        F.normalize(text, dim=-1)  →  F.normalize(text, dim=-2)
    multiplied_by_temperature: The logits are multiplied by the temperature. Divide by it: a small temperature must make
        the logits larger and the choice sharper.
        / temperature  →  * temperature
    temperature_left_out: Your function does not use its argument temperature. Divide the logits by it.
        / temperature  →  / 0.07
    temperature_of_words: If no temperature is given, your function takes 0.1, as in lesson 2. The default must be
        0.07.
        temperature: float = 0.07  →  temperature: float = 0.1
    without_temperature: Your code does not divide the logits by the temperature, so they stay close together,
        between −1 and 1. Divide them.
        / temperature  →
    softmax_before: Your code takes the softmax twice. Give the logits as they are to F.cross_entropy or
        log_softmax.
        logits.log_softmax(-1)  →  logits.softmax(-1).log_softmax(-1)
        logits.log_softmax(-2)  →  logits.softmax(-2).log_softmax(-2)
    divided_by_all_logits: Your code divides by n², the number of all logits. Divide by n, the number of pairs.
        .mean() / 2  →  .mean() / 2 / logits.shape[-1]
    first_two_axes: Without dim1 and dim2, diagonal() takes the first two axes. With a batch in front, these are the
        wrong axes: use dim1=-2, dim2=-1.
        logits.log_softmax(-1).diagonal(dim1=-2, dim2=-1)  →  logits.log_softmax(-1).diagonal()
        logits.log_softmax(-2).diagonal(dim1=-2, dim2=-1)  →  logits.log_softmax(-2).diagonal()
    exp_of_temperature: The logits are multiplied by exp(temperature) here. Divide by the temperature itself.
        / temperature  →  * torch.tensor(temperature).exp()
    similar_ones_share: Your code shares the targets among similar pictures and texts. The only target of a
        picture must be its own text, and the other way round.
        return -(texts_chosen + images_chosen).mean() / 2
            →  likes = (F.normalize(image, dim=-1) @ F.normalize(image, dim=-1).transpose(-2, -1) + F.normalize(text,
               dim=-1) @ F.normalize(text, dim=-1).transpose(-2, -1)) / 2; target = (likes / temperature).softmax(-1);
               return -((target * logits.log_softmax(-1)).sum(-1).mean() + (target.transpose(-2, -1) *
               logits.log_softmax(-2)).sum(-2).mean()) / 2
    pairs_only_pulled: Your loss uses only the similarity of the pairs, so nothing pushes the others apart. Use
        cross-entropy, which does this, too.
        return -(texts_chosen + images_chosen).mean() / 2  →  return -logits.diagonal(dim1=-2, dim2=-1).mean()
    batches_meet: All batches are put together. Each pair must choose only among the pairs of its own batch.
        + image, text = image.flatten(0, -2), text.flatten(0, -2)
    first_batch_alone: Your loss uses only the first batch. Take the mean over all batches.
        = contrastive_loss(*(one.reshape(-1, *one.shape[-2:])[:1] for one in (image, text)), temperature) if
          image.ndim > 2 else result
    pictures_with_pictures: The pictures are compared with themselves. Compare them with the texts.
        F.normalize(text, dim=-1)  →  F.normalize(image, dim=-1)
    distances_of_pairs: Your logits are made from distances between the vectors. Use their cosines instead.
        F.normalize(image, dim=-1) @ F.normalize(text, dim=-1).transpose(-2, -1)
            →  -torch.cdist(F.normalize(image, dim=-1), F.normalize(text, dim=-1))
    exp_of_logits: A small temperature makes your logits large, and exp of a large logit is infinite. Use
        F.cross_entropy or log_softmax, which stay finite.
        logits.log_softmax(-1)  →  (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()
        logits.log_softmax(-2)  →  (logits.exp() / logits.exp().sum(-2, keepdim=True)).log()
    log_of_softmax: Your softmax rounds small probabilities to 0, and the log of 0 is −∞. Use F.cross_entropy or
        log_softmax, which stay finite.
        logits.log_softmax(-1)  →  torch.log(torch.softmax(logits, dim=-1))
        logits.log_softmax(-2)  →  torch.log(torch.softmax(logits, dim=-2))
    without_minus (slip): The loss has the wrong sign: it falls as the pairs move apart. The loss is minus the mean of
        the logarithms.
        return -(texts_chosen  →  return (texts_chosen
"""))  # fmt: skip

# ---------------------------------------------------------------- 5.6

SIGMOID = written_exercise("5.6 Every pair by itself", sigmoid_loss, (
    CheckSpec("values", 6, "a yes or no for each picture and each text",
        examples=[sizes(pairs=3, d=4, temperature=0.5, bias=-1.0)],
        trials=[sizes(pairs=5, d=7, temperature=0.3, bias=-2.0), sizes(pairs=11, d=3, temperature=1.7, bias=0.5)]),
    CheckSpec("batch", 2, "pairs of different batches do not meet",
        examples=[sizes(batch_shape=(2,), pairs=3, d=4, temperature=0.5, bias=-1.0)],
        trials=[sizes(batch_shape=(2,), pairs=5, d=7, temperature=0.3, bias=-2.0),
            sizes(batch_shape=(3, 2), pairs=7, d=5, temperature=0.7, bias=-0.5)]),
    CheckSpec("sharp", 2, "a small temperature gives no NaN and no infinity",
        examples=[sizes(pairs=3, d=4, temperature=0.005, bias=-1.0)],
        trials=[sizes(pairs=7, d=5, temperature=0.005, bias=-1.0)], draw=draw_pair_and_its_opposite),
    CheckSpec("conduct", 2,
        trials=[sizes(batch_shape=(2,), pairs=5, d=3, temperature=0.2, bias=-1.0, dtype=torch.float64)],
        probe=loss_conduct),
),
    draw=draw_biased_pairs, returns=("loss",), probe=loss_values,
    difficulty=2, minutes=10, review="Every pair by itself",
    mistakes=edits(sigmoid_loss, """
    divided_by_n_twice: Your code divides by the number of all logits. Add up the losses, and divide by n, the
        number of pairs.
        .sum(-1).mean()  →  .mean()
    never_divided: Your code adds up the losses, but does not divide by n, the number of pairs. Divide the sum by
        n.
        .sum(-1).mean()  →  .sum()
    all_belong_together: Every picture and every text count as a pair here. If a picture and a text do not belong
        together, their sign must be −1.
        signs * logits  →  logits
    signs_exchanged: The sign is wrong: for a pair the loss must fall as the logit grows, for all others it must rise.
        signs * logits  →  -signs * logits
    zero_for_the_others: A picture and a text that do not belong together have the sign 0 here, so their logits change
        nothing. Their sign must be −1.
        2 * torch.eye(logits.shape[-1], dtype=logits.dtype, device=logits.device) - 1
            →  torch.eye(logits.shape[-1], dtype=logits.dtype, device=logits.device)
    pairs_alone: Your loss uses only the pairs, so nothing pushes the others apart. Use all n² logits.
        -F.logsigmoid(signs * logits).sum(-1).mean()  →  -F.logsigmoid(logits.diagonal(dim1=-2, dim2=-1)).mean()
    bias_subtracted: The bias is subtracted. Add it: a negative bias makes every logit smaller.
        / temperature + bias  →  / temperature - bias
    bias_left_out: The bias is missing. Add it to every logit.
        / temperature + bias  →  / temperature
    bias_divided: The bias is also divided by the temperature. Add it after the division.
        F.normalize(image, dim=-1) @ F.normalize(text, dim=-1).transpose(-2, -1) / temperature + bias
            →  (F.normalize(image, dim=-1) @ F.normalize(text, dim=-1).transpose(-2, -1) + bias) / temperature
    times_the_temperature: The scores are multiplied by the temperature. Divide by it, as in 5.5: SigLIP's t is 1 /
        temperature.
        / temperature  →  * temperature
    temperature_of_clip_here: If no temperature is given, your function takes 0.07, as in 5.5. The default must be
        0.1.
        temperature: float = 0.1  →  temperature: float = 0.07
    other_bias: If no bias is given, your function takes 0. The default must be −10.
        bias: float = -10.0  →  bias: float = 0.0
    softmax_here: Your code takes a softmax over the texts, so each logit depends on the others. Use the sigmoid
        of each logit.
        -F.logsigmoid(signs * logits).sum(-1).mean()  →  -logits.log_softmax(-1).diagonal(dim1=-2, dim2=-1).mean()
    dots_here: Your logits use plain dot products. Cosine similarity compares directions: divide both vectors by
        their length first.
        F.normalize(image, dim=-1)  →  image
        F.normalize(text, dim=-1)  →  text
    pictures_not_normalised: Your code normalises the texts, but not the pictures. Cosine similarity needs both
        sides normalised.
        F.normalize(image, dim=-1)  →  image
    texts_not_normalised: Your code normalises the pictures, but not the texts. Cosine similarity needs both sides
        normalised.
        F.normalize(text, dim=-1)  →  text
    all_in_one_batch: All batches are put together. Compare pictures and texts only within a batch.
        + image, text = image.flatten(0, -2), text.flatten(0, -2)
    log_of_sigmoid: Your sigmoid rounds to 0, and the log of 0 is −∞. Use F.logsigmoid, which stays finite.
        F.logsigmoid(signs * logits)  →  torch.log(torch.sigmoid(signs * logits))
    log_of_one_minus: Your sigmoid rounds to 0 or to 1, and the log of 0 is −∞. Use F.logsigmoid, which stays
        finite, for the logit and for minus the logit.
        -F.logsigmoid(signs * logits)
            →  -((signs + 1) / 2 * torch.sigmoid(logits).log() + (1 - signs) / 2 * (1 - torch.sigmoid(logits)).log())
    bias_without_its_sign: Your code adds the bias after the sign. Add it to the logit first: the sign must
        multiply the bias, too.
        signs * logits  →  signs * (logits - bias) + bias
    batches_added: The losses of all batches are added up. Take the mean over the batches.
        .sum(-1).mean()  →  .sum() / logits.shape[-1]
    minus_missing (slip): The loss has the wrong sign. Take minus the logarithms.
        return -F.logsigmoid  →  return F.logsigmoid
"""))  # fmt: skip
