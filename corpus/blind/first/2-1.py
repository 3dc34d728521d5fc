# %% [wrong] mlp_relu | The mlp has a ReLU between its two linear layers, where a GELU is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.ReLU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("identity needs d_vision == d_text")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] mlp_hidden_width_vision | The hidden layer of the mlp is as wide as the image token (d_vision) and not d_text wide.
class TokenAligner(nn.Module):
    """Carries image tokens into the space of the words."""

    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.d_vision, self.d_text, self.method = d_vision, d_text, method
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            # think in vision space first, translate afterwards
            self.proj = nn.Sequential(
                nn.Linear(d_vision, d_vision),
                nn.GELU(),
                nn.Linear(d_vision, d_text),
            )
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity: {d_vision} is not {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        """tokens (..., n, d_vision) → (..., n, d_text)."""
        return self.proj(tokens)

# %% [wrong] linear_without_bias | The linear method is made with bias=False, but the aligner's linear layer has a bias.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in ("linear", "mlp", "identity"):
            raise ValueError(f"unknown method {method!r}")
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity between different widths")
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text, bias=False)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] assert_for_errors | Bad arguments are caught with assert, which raises an AssertionError and not the ValueError that is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        assert method in ["linear", "mlp", "identity"], f"unknown method {method}"
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        if method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        if method == "identity":
            assert d_vision == d_text
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] identity_width_unchecked | An identity between two different widths is accepted, no ValueError is raised for it.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, x):
        return self.proj(x)

# %% [wrong] else_is_linear | An unknown method is silently treated as "linear" by the last else, where a ValueError is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity":
            if d_vision != d_text:
                raise ValueError("cannot be the identity: different widths")
            self.proj = nn.Identity()
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            self.proj = nn.Linear(d_vision, d_text)

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] named_projection | The layer is stored as self.projection, but the exercise asks for the name self.proj.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.projection = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.projection = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError
            self.projection = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.projection(tokens)

# %% [wrong] flattened_not_restored | forward flattens all leading axes into one and does not restore them, so a batch comes back as one long list of tokens.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.d_vision = d_vision
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(f"{method!r} is not possible here")

    def forward(self, tokens):
        # nn.Linear wants (N, features)
        flat = tokens.reshape(-1, self.d_vision)
        return self.proj(flat)

# %% [wrong] no_super_init | super().__init__() is not called before a layer is assigned, so nn.Module raises an AttributeError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] value_error_returned | The ValueErrors are returned from __init__ and not raised, so Python complains with a TypeError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                return ValueError("widths differ")
            self.proj = nn.Identity()
        else:
            return ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] mlp_second_gelu | The mlp ends with a second GELU after the last linear layer, which does not belong there.
def _mlp(d_in, d_out):
    layers = []
    for a, b in [(d_in, d_out), (d_out, d_out)]:
        layers += [nn.Linear(a, b), nn.GELU()]
    return nn.Sequential(*layers)


class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        match method:
            case "linear":
                self.proj = nn.Linear(d_vision, d_text)
            case "mlp":
                self.proj = _mlp(d_vision, d_text)
            case "identity" if d_vision == d_text:
                self.proj = nn.Identity()
            case _:
                raise ValueError(f"no {method!r} from {d_vision} to {d_text}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] default_method_mlp | The default of method is "mlp", but the signature says "linear".
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="mlp"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("d_vision and d_text must be the same for identity")
            self.proj = nn.Identity()
        else:
            raise ValueError("unknown method " + str(method))

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] or_string_always_true | The condition `method == "mlp" or "two-layer"` is always true, so "identity" and unknown methods become an mlp.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp" or "two-layer":
            self.proj = nn.Sequential(
                nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)
            )
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("identity: widths must agree")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] result_normalised | forward also divides every aligned token by its length, but it should only put the tokens through self.proj.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("identity needs equal widths")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        out = self.proj(tokens)
        return F.normalize(out, dim=-1)  # cosine needs unit length

# %% [wrong] identity_as_linear_with_bias | The identity is a linear layer with an identity matrix whose random bias is still added; nn.Identity() is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method in ("linear", "identity"):
            self.proj = nn.Linear(d_vision, d_text)
            if method == "identity":
                if d_vision != d_text:
                    raise ValueError("identity is only possible for d_vision = d_text")
                nn.init.eye_(self.proj.weight)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] widths_swapped_and_tanh | The linear layer goes from d_text to d_vision, the widths are swapped AND the mlp has a Tanh where a GELU is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_text, d_vision)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.Tanh(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("identity needs equal widths")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [right] checks_first | All errors are raised up front, then the layer is picked from a dictionary of small functions.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        makers = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity,
        }
        if method not in makers:
            raise ValueError(f"method must be one of {sorted(makers)}, not {method!r}")
        if method == "identity" and d_vision != d_text:
            raise ValueError(f"no identity from {d_vision} to {d_text}")
        self.proj = makers[method]()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [right] match_statement | A match statement with a guard; one ValueError for both cases.
class TokenAligner(nn.Module):
    """Carries image tokens into the space of the words."""

    def __init__(self, d_vision: int, d_text: int, method: str = "linear"):
        super().__init__()
        match method:
            case "linear":
                self.proj = nn.Linear(d_vision, d_text)
            case "mlp":
                up, down = nn.Linear(d_vision, d_text), nn.Linear(d_text, d_text)
                self.proj = nn.Sequential(up, nn.GELU(), down)
            case "identity" if d_vision == d_text:
                self.proj = nn.Identity()
            case _:
                raise ValueError(f"{method!r} from {d_vision} to {d_text} is not possible")

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.proj(tokens)

# %% [right] sequential_appended | The mlp is built step by step with append; the layer is made by a static helper.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.method = method
        self.proj = self._build(d_vision, d_text, method)

    @staticmethod
    def _build(d_in, d_out, how):
        if how == "identity":
            if d_in == d_out:
                return nn.Identity()
            raise ValueError("an identity cannot change the width")
        first = nn.Linear(d_in, d_out)
        if how == "linear":
            return first
        if how != "mlp":
            raise ValueError(f"unknown method {how!r}")
        net = nn.Sequential(first)
        net.append(nn.GELU())
        net.append(nn.Linear(d_out, d_out))
        return net

    def forward(self, tokens):
        aligned = self.proj(tokens)
        return aligned
