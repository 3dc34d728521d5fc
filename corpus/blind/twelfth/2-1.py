# %% [wrong] hidden_width_is_vision | the first layer of the mlp goes from d_vision to d_vision and only the second one to d_text: the layers have other shapes than the table says, and another number of parameters
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_vision), nn.GELU(), nn.Linear(d_vision, d_text))
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(f"{method!r} does not work from {d_vision} to {d_text}")

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] key_error | the method is looked up in a dict without a check: an unknown one raises KeyError, not ValueError
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity needs equal widths")
        makers = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity,
        }
        self.proj = makers[method]()

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] identity_of_any_width | the identity is accepted without comparing the widths: no ValueError where d_vision differs from d_text, and the tokens come back at the wrong width
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        match method:
            case "linear":
                self.proj = nn.Linear(d_vision, d_text)
            case "mlp":
                self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
            case "identity":
                self.proj = nn.Identity()
            case _:
                raise ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] error_not_raised | the ValueError is made but not raised (the word `raise` is missing): an unknown method passes in silence and leaves a layer without proj
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity":
            if d_vision != d_text:
                raise ValueError("an identity cannot change the width")
            self.proj = nn.Identity()
        elif method == "mlp":
            layers = [nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)]
            self.proj = nn.Sequential(*layers)
        elif method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        else:
            ValueError(f"unknown method {method!r}")

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] relu_for_gelu | the mlp has a ReLU between its layers where the table asks for a GELU: same parameters, other numbers
class TokenAligner(nn.Module):
    """Carries image tokens into the space of the words."""

    METHODS = ("linear", "mlp", "identity")

    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in self.METHODS:
            raise ValueError(f"unknown method {method!r}")
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity: d_vision and d_text must be the same")
        self.proj = getattr(self, "_" + method)(d_vision, d_text)

    def _linear(self, a, b):
        return nn.Linear(a, b)

    def _mlp(self, a, b):
        return nn.Sequential(self._linear(a, b), nn.ReLU(), self._linear(b, b))

    def _identity(self, a, b):
        return nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)


# %% [right] possible_forms | all possible forms are gathered as functions, the identity only where the widths agree, and one lookup decides
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        first = lambda: nn.Linear(d_vision, d_text)
        possible = {"linear": first, "mlp": lambda: nn.Sequential(first(), nn.GELU(), nn.Linear(d_text, d_text))}
        if d_vision == d_text:
            possible["identity"] = nn.Identity
        build = possible.get(method)
        if build is None:
            raise ValueError(f"no {method!r} from {d_vision} to {d_text}; possible: {', '.join(possible)}")
        self.add_module("proj", build())

    def forward(self, tokens):
        return self.proj(tokens)
