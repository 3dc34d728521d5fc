# %% [wrong] unknown_method_is_a_key_error | The method is looked up in a dict, so an unknown name raises a KeyError. A ValueError is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity needs d_vision == d_text")
        makers = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": lambda: nn.Identity(),
        }
        self.proj = makers[method]()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] error_made_but_not_raised | For an identity between different widths a ValueError is built but the word raise is missing, so nothing happens and the tokens come back in the wrong width. It should be raised.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity":
            if d_vision != d_text:
                ValueError(f"identity is not possible from {d_vision} to {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] gelu_by_tanh | The GELU is the tanh approximation known from GPT-2. The table asks for nn.GELU() as it is, the exact one; aligned tokens differ in the fourth decimal.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in ("linear", "mlp", "identity"):
            raise ValueError(f"unknown method {method!r}")
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        if method == "mlp":
            self.proj = nn.Sequential(
                nn.Linear(d_vision, d_text),
                nn.GELU(approximate="tanh"),
                nn.Linear(d_text, d_text),
            )
        if method == "identity":
            if d_vision != d_text:
                raise ValueError("widths differ")
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] all_methods_are_kept | All projections are made and kept in a ModuleDict beside self.proj, so a linear aligner also holds the parameters of an mlp. There should be one part, self.proj: 2,080 numbers from 64 to 32, not 5,216.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.choices = nn.ModuleDict({
            "linear": nn.Linear(d_vision, d_text),
            "mlp": nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity(),
        })
        if method not in self.choices or (method == "identity" and d_vision != d_text):
            raise ValueError(f"cannot use {method!r} from {d_vision} to {d_text}")
        self.proj = self.choices[method]

    def forward(self, tokens):
        return self.proj(tokens)

# %% [wrong] hidden_layer_as_wide_as_the_image | The hidden layer of the mlp has d_vision numbers: d_vision → d_vision → d_text. It should be d_vision → d_text → d_text, 3,136 numbers from 64 to 32.
class TokenAligner(nn.Module):
    """Carries image tokens into the space of the words."""

    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(f"method {method!r} does not work here")

    def forward(self, tokens):
        return self.proj(tokens)

# %% [right] match_with_guard | A match statement with a guard for the identity; everything that falls through raises, and the layers are made by a static method.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        self.proj = self._build(d_vision, d_text, method)

    @staticmethod
    def _build(wide, narrow, method):
        match method:
            case "identity" if wide == narrow:
                return nn.Identity()
            case "linear":
                return nn.Linear(wide, narrow)
            case "mlp":
                first, second = (nn.Linear(width, narrow) for width in (wide, narrow))
                return nn.Sequential(first, nn.GELU(), second)
        raise ValueError(f"no aligner {method!r} from {wide} to {narrow}")

    def forward(self, tokens):
        return self.proj.forward(tokens)
