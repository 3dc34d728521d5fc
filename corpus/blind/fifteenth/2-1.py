# %% [wrong] mlp_middle_as_wide_as_image | The first layer of the mlp goes from d_vision to d_vision. It should go to d_text right away, and the second from d_text to d_text.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("identity needs d_vision == d_text")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)
# %% [wrong] error_made_but_not_raised | For an identity between different widths a ValueError is made, but the word raise is missing, so nothing happens and the identity is built all the same.
class TokenAligner(nn.Module):
    """Carries image tokens into the space of the words."""

    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in ("linear", "mlp", "identity"):
            raise ValueError(f"unknown method {method!r}")
        if method == "identity" and d_vision != d_text:
            ValueError(f"identity from {d_vision} to {d_text} is not possible")

        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        if method == "mlp":
            layers = [nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)]
            self.proj = nn.Sequential(*layers)
        if method == "identity":
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)
# %% [wrong] leading_axes_flattened | forward flattens all leading axes and does not bring them back, so a batch of scenes comes out as one long list. Only the last axis may change; nn.Linear works on it by itself.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.d_vision = d_vision
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(
                nn.Linear(d_vision, d_text),
                nn.GELU(),
                nn.Linear(d_text, d_text),
            )
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(f"{method!r} from {d_vision} to {d_text} does not work")

    def forward(self, tokens):
        tokens = tokens.reshape(-1, self.d_vision)
        return self.proj(tokens)
