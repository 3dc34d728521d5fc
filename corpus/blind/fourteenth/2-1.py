# %% [wrong] hidden_layer_as_wide_as_the_image | The mlp stays at d_vision in its first Linear and narrows in the second one; it should go to d_text at once.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] error_returned_not_raised | For an unknown method the ValueError is only made and assigned; without raise nothing happens.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity needs d_vision = d_text")
        makers = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": lambda: nn.Identity(),
        }
        self.proj = makers.get(method, lambda: ValueError(f"unknown method {method!r}"))()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] identity_if_wide_enough | The identity is refused only where d_vision is smaller than d_text; where it is larger, tokens come out too wide.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        match method:
            case "linear":
                self.proj = nn.Linear(d_vision, d_text)
            case "mlp":
                self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
            case "identity":
                if d_vision < d_text:
                    raise ValueError("an identity cannot make tokens wider")
                self.proj = nn.Identity()
            case _:
                raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)
