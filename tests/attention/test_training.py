import torch
from attention.training import shift_targets, train_step
from torch import nn
from torch.nn import functional as F


def test_targets_by_hand():
    ids = torch.tensor([[1, 5, 6, 7, 2, 0], [1, 5, 8, 9, 7, 2]])
    assert shift_targets(ids, torch.tensor([3, 2])).tolist() == [
        [-100, -100, 7, 2, -100, -100],
        [-100, 8, 9, 7, 2, -100],
    ]


def test_other_padding_and_other_ignoring():
    ids = torch.tensor([[1, 0, 6, 3, 3]])
    assert shift_targets(ids, torch.tensor([1]), pad_id=3, ignore_index=-7).tolist() == [[0, 6, -7, -7, -7]]


class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 11, dtype=torch.float64)

    def forward(self, token_ids, image_patches):
        return self.words(token_ids) + image_patches.mean(-2, keepdim=True), []


def test_a_step_is_gradient_descent_on_the_answer():
    torch.manual_seed(0)
    toy = Toy().eval()
    ids, lengths = torch.tensor([[1, 5, 6, 2, 0], [1, 8, 9, 7, 2]]), torch.tensor([2, 2])
    patches = torch.randn(2, 3, 11, dtype=torch.float64)
    before = toy.words.weight.detach().clone().requires_grad_()
    logits = F.embedding(ids, before) + patches.mean(-2, keepdim=True)
    asked = [(0, 1, 6), (0, 2, 2), (1, 1, 9), (1, 2, 7), (1, 3, 2)]
    expected = sum(-logits[b, t].log_softmax(-1)[word] for b, t, word in asked) / len(asked)
    (gradient,) = torch.autograd.grad(expected, before)
    optimizer = torch.optim.SGD(toy.parameters(), lr=0.5)
    toy.words.weight.grad = torch.ones_like(toy.words.weight)  # left over: it has to be cleared
    loss = train_step(toy, optimizer, (ids, lengths, patches))
    assert isinstance(loss, float)
    assert abs(loss - expected.item()) < 1e-12
    assert torch.allclose(toy.words.weight, before - 0.5 * gradient)
    assert toy.training
