"""Practice 3.P4: `shuffle_questions`, which keeps each question with its own image."""

from collections.abc import Mapping

import torch
from attention.repairs import shuffle_questions
from torch import Tensor

from grader.declare.authoring import CheckSpec, Inputs, InputSampler, Value, sizes, written_exercise
from grader.declare.probes import as_tensor, pair, side_effects


def draw_questions_and_images(
    sampler: InputSampler, *, questions: int, tokens: int, patches: int, d_vision: int
) -> Inputs:
    """Draw questions, images and a seed. No two questions or images are equal."""
    return {
        "token_ids": sampler.permutation(questions * tokens).reshape(questions, tokens),
        "image_patches": sampler.normal(questions, patches, d_vision),
        "seed": int(sampler.integers(0, 10_000, 1)),
    }


def shuffled(shuffle_questions, token_ids: Tensor, image_patches: Tensor, seed: int) -> Mapping[str, Value]:
    """Return whether questions keep their images, the order changes, and only the generator determines the order."""
    generator = torch.Generator().manual_seed(seed)
    orders = []
    unmoved = torch.eye(len(token_ids), dtype=torch.bool, device=token_ids.device)
    for index in range(3):
        if index == 2:
            generator.manual_seed(seed)
        # Anew each time: who writes into them has shuffled them once, and not twice.
        given = {"token_ids": token_ids.clone(), "image_patches": image_patches.clone()}
        returned = shuffle_questions(given["token_ids"], given["image_patches"], generator)
        words, images = pair(returned, ("token_ids", "image_patches"))
        words, images = as_tensor(words, "token_ids"), as_tensor(images, "image_patches")
        if words.shape != token_ids.shape or images.shape != image_patches.shape:
            return {"shapes": [list(words.shape), list(images.shape)]}
        # (N, N): which of the old rows each new row is.
        order = (words.unsqueeze(1) == token_ids).all(-1)
        of_images = (images.flatten(1).unsqueeze(1) == image_patches.flatten(1)).all(-1)
        orders.append(order)
        if not torch.equal(order, of_images) or not bool(order.any(1).all()):
            return {
                "every question has its own image": False,
                "questions": order.any(1).sum(),
                "images": of_images.any(1).sum(),
                "images where they were": torch.equal(of_images, unmoved),
                "images moved the other way": torch.equal(of_images, order.mT),
            }
    return {
        "every question has its own image": True,
        "no question is lost": all(bool(order.any(0).all()) for order in orders),
        "the order is another one": not torch.equal(orders[0], unmoved),
        "the next order is another one": not torch.equal(orders[0], orders[1]),
        "the generator draws the order": torch.equal(orders[0], orders[2]),
        "the order is moved along": any(torch.equal(orders[0], unmoved.roll(by, 0)) for by in range(len(unmoved))),
        "the order is turned round": torch.equal(orders[0], unmoved.flip(0)),
        **side_effects({"token_ids": token_ids, "image_patches": image_patches}, given),
    }


ORDER = written_exercise("3.P4 Repair a misalignment", shuffle_questions, (
    CheckSpec("values", 0, "another order, and every question keeps its image",
        examples=[sizes(questions=11, tokens=2, patches=1, d_vision=2),
            sizes(questions=7, tokens=2, patches=3, d_vision=2)],
        trials=[sizes(questions=13, tokens=2, patches=3, d_vision=5),
            sizes(questions=29, tokens=5, patches=2, d_vision=3)], probe=shuffled),
),
    draw=draw_questions_and_images,
    difficulty=1, minutes=6, review="Repair three trainings",
    mistakes="""
    two_orders: The images are in another order than the questions, so each question gets a wrong image. Use one order
        for both.
        image_patches[order]  →  image_patches[torch.randperm(len(order), generator=generator)]
    images_stay: The questions are shuffled, but the images are not. Put both in the same order.
        image_patches[order]  →  image_patches
    images_go_back: Your code indexes the images with the inverse of the order, so they do not match the
        questions. Index both with the same order.
        image_patches[order]  →  image_patches[order.argsort()]
    not_shuffled: Your code keeps each question with its own image, but shuffles nothing. Draw an order, and use
        it for both.
        = token_ids, image_patches
    turned_round: The order is only reversed. Draw a new one from the generator.
        = token_ids.flip(0), image_patches.flip(0)
    moved_along: Your code moves all rows along by the same number of places, so they still follow one another as
        before. Draw a new order: torch.randperm.
        order = torch.randperm(len(token_ids), generator=generator)
            →  order = torch.arange(len(token_ids)).roll(int(torch.randint(1, len(token_ids), (1,),
               generator=generator)))
    with_repeats: In your result some questions are there twice and others are missing. An order must contain each
        of them once.
        torch.randperm(len(token_ids),  →  torch.randint(len(token_ids), (len(token_ids),),
    patches_shuffled: Your code shuffles the patches inside each image, but not the questions. Draw one random
        order of the questions, of length len(token_ids), and use it for both tensors.
        torch.randperm(len(token_ids)  →  torch.randperm(image_patches.shape[1]
        token_ids[order], image_patches[order]  →  token_ids, image_patches[:, order]
    patches_shuffled_too: The patches inside an image are swapped, too, so a place shows another digit. Leave each
        image as it is.
        image_patches[order]  →  image_patches[order][:, torch.randperm(image_patches.shape[1], generator=generator)]
    as_long_as_a_question: Your order is only as long as a question, so most questions are lost. The order needs
        one number for each question: len(token_ids).
        torch.randperm(len(token_ids)  →  torch.randperm(token_ids.shape[-1]
    same_order_each_time: Every call gives the same order. Draw it from the generator that is passed in, and do not
        seed it again.
        + generator = torch.Generator().manual_seed(0)
    generator_is_ignored: Your code does not use the generator, so the same seed gives a different training each
        time. Draw the order from the generator.
        , generator=generator  →
""")  # fmt: skip
