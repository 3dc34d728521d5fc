"""Heads that share keys and values after a training."""

import torch
from attention.data.tokens import EOS, draw_questions
from attention.experiments.recipe import MODEL, draw_start
from attention.experiments.shared_keys import share_keys, train_on, words_right
from attention.open_vlm import OpenVLM, answer_step


def model():
    built = OpenVLM(**MODEL)
    draw_start(built, 0)
    return built.eval()


def test_as_many_groups_as_heads_change_nothing():
    before, questions = model(), draw_questions(5, torch.Generator().manual_seed(0), "test")
    given = questions.token_ids, questions.image_patches
    assert torch.allclose(share_keys(before, 4)(*given)[0], before(*given)[0], atol=1e-6)


def test_a_group_has_the_mean_of_its_heads_and_stays_one_while_training():
    before = model()
    shared = share_keys(before, 2)
    each = before.blocks[1].cross_attn.W_K.weight.unflatten(0, (4, 16))
    weight = shared.blocks[1].cross_attn.W_K.weight
    assert torch.allclose(weight[:16], (each[0] + each[1]) / 2)
    assert torch.allclose(weight[16:], (each[2] + each[3]) / 2)
    train_on(shared, answer_step, 0, steps=2)
    keys = shared.blocks[1].cross_attn.W_K(torch.randn(3, 64)).unflatten(-1, (4, 16))
    assert torch.equal(keys[:, 0], keys[:, 1])
    assert torch.equal(keys[:, 2], keys[:, 3])
    assert not torch.equal(weight, torch.cat([(each[0] + each[1]) / 2, (each[2] + each[3]) / 2]))


def test_only_the_words_of_the_answer_count():
    questions = draw_questions(50, torch.Generator().manual_seed(0), "test", ("what", "read"), fewest=9)

    class Knows(torch.nn.Linear):  # a model with parameters, that says the right digit or <eos>, and else nonsense
        def forward(self, token_ids, image_patches):
            after = questions.token_ids[:, 1:]
            place = torch.arange(after.shape[1])
            answered = (place + 1 >= questions.prompt_lengths[:, None]) & (after > EOS)
            said = torch.where(answered & (place != 5), after, 0)
            return torch.nn.functional.one_hot(said, len(questions.token_ids) + 50).float(), []

    what = (questions.prompt_lengths == 6).sum().item()
    read = len(questions.token_ids) - what
    # "what" has its one word at place 5, which it gets wrong; "read" has three, at 4 to 6.
    assert words_right(Knows(1, 1), questions) == torch.tensor(2 * read / (what + 3 * read)).item()
