# %% [wrong] key_error | looks the method up in a dictionary of finished parts: an unknown method raises a KeyError instead of the ValueError that is asked for
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError(f"identity needs equal widths, not {d_vision} and {d_text}")
        self.proj = {
            "linear": nn.Linear(d_vision, d_text),
            "mlp": nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity(),
        }[method]

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] wide_hidden_layer | the hidden layer of the MLP stays at d_vision and the narrowing comes last (Linear(d_vision, d_vision), GELU, Linear(d_vision, d_text)): other shapes and another number of parameters than the table says
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        match method:
            case "linear":
                self.proj = nn.Linear(d_vision, d_text)
            case "mlp":
                self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
            case "identity" if d_vision == d_text:
                self.proj = nn.Identity()
            case _:
                raise ValueError(f"{method!r} does not work from {d_vision} to {d_text}")

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] lost_leading_axes | forward flattens the tokens to (N, d_vision) and never restores the leading axes: only inputs (n, d_vision) keep their shape
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.d_vision = d_vision
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError("identity needs d_vision == d_text")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        flat = tokens.reshape(-1, self.d_vision)
        return self.proj(flat)


# %% [wrong] or_with_a_string | `method == "mlp" or "MLP"` is always true (a non-empty string), so "identity" and any unknown method silently become the MLP and no ValueError is ever raised
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp" or "MLP":
            layers = [nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)]
            self.proj = nn.Sequential(*layers)
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError("method must be linear, mlp or identity")

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] identity_unchecked | never compares the widths: an identity between different widths is built without a ValueError, and hands tokens of the wrong width on
class TokenAligner(nn.Module):
    METHODS = ("linear", "mlp", "identity")

    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in self.METHODS:
            raise ValueError(f"unknown method {method!r}, choose one of {self.METHODS}")
        build = getattr(self, f"_{method}")
        self.proj = build(d_vision, d_text)

    @staticmethod
    def _linear(i, o):
        return nn.Linear(i, o)

    @staticmethod
    def _mlp(i, o):
        return nn.Sequential(nn.Linear(i, o), nn.GELU(), nn.Linear(o, o))

    @staticmethod
    def _identity(i, o):
        return nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)


# %% [right] try_the_recipe | a table of functions, a KeyError turned into a ValueError, and the check of widths inside a helper
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()

        def unchanged():
            if d_vision - d_text:
                raise ValueError(f"an identity cannot turn {d_vision} numbers into {d_text}")
            return nn.Identity()

        recipes = dict(
            linear=lambda: nn.Linear(d_vision, d_text),
            mlp=lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            identity=unchanged,
        )
        try:
            recipe = recipes[method]
        except (KeyError, TypeError) as error:
            raise ValueError(f"unknown method {method!r}") from error
        self.add_module("proj", recipe())

    def forward(self, tokens):
        return self.proj(tokens)
