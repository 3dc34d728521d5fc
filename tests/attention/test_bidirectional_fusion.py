import pytest
import torch
from attention.bidirectional_fusion import BidirectionalFusion, ImageTextFusion


def test_each_side_comes_back_at_its_own_width():
    fusion = ImageTextFusion(d_text=11, d_image=7, d_model=12, num_heads=3)
    text, image = fusion(torch.randn(2, 5, 11), torch.randn(2, 13, 7))
    assert text.shape == (2, 5, 11)
    assert image.shape == (2, 13, 7)


def test_both_directions_read_what_came_in():
    torch.manual_seed(1)
    fusion = ImageTextFusion(11, 7, 12, 3)
    text, image = torch.randn(5, 11), torch.randn(13, 7)
    ours, theirs = fusion.text_in(fusion.text_norm(text)), fusion.image_in(fusion.image_norm(image))
    got = fusion(text, image)
    torch.testing.assert_close(got[0], fusion.text_out(fusion.text_from_image(ours, theirs)[0]))
    torch.testing.assert_close(got[1], fusion.image_out(fusion.image_from_text(theirs, ours)[0]))


def test_layers_add_their_update_exactly_once():
    torch.manual_seed(2)
    stack, text, image = BidirectionalFusion(11, 7, 12, 2), torch.randn(5, 11), torch.randn(13, 7)
    got = stack(text, image)
    for layer in stack.layers:
        text_update, image_update = layer(text, image)
        text, image = text + text_update, image + image_update
    torch.testing.assert_close(got[0], text)
    torch.testing.assert_close(got[1], image)


@pytest.mark.parametrize("num_layers", [6, 24])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_activations_stay_bounded_over_depth(num_layers, scale):
    torch.manual_seed(3)
    stack = BidirectionalFusion(d_text=48, d_image=64, d_model=32, num_layers=num_layers)
    text, image = torch.randn(4, 9, 48) * scale, torch.randn(4, 16, 64) * scale
    with torch.no_grad():
        for before, after in zip((text, image), stack(text, image), strict=True):
            assert 1 / 3 < after.std() / before.std() < 3
