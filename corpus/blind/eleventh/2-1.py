# %% [wrong] assert_instead_of_raise | Checks method and widths with assert. A wrong method or an impossible identity raises an AssertionError (and nothing at all where Python runs with -O), not the ValueError that is asked for.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        assert method in ("linear", "mlp", "identity"), f"unknown method {method}"
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        else:
            assert d_vision == d_text
            self.proj = nn.Identity()

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] or_that_is_always_true | Writes `method == "mlp" or "MLP"`, which is always true. "identity" gets the two-layer form, and an unknown method gets it too instead of a ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp" or "MLP":
            self.proj = nn.Sequential(
                nn.Linear(d_vision, d_text),
                nn.GELU(),
                nn.Linear(d_text, d_text),
            )
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError("this method does not work here: " + method)

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] hidden_layer_of_the_image_width | The middle of the two-layer form is d_vision wide and not d_text: Linear(d_vision, d_vision), GELU, Linear(d_vision, d_text). From 64 to 32 it has 6,240 numbers to learn and not 3,136.
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
                raise ValueError(f"{method!r} from {d_vision} to {d_text}")

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] the_other_gelu | Takes the approximation of GELU by tanh that GPT-2 uses. The two-layer form then differs from the one asked for, nn.GELU(), by some thousandths.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, got {d_vision} and {d_text}")
            self.proj = nn.Identity()
        elif method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            layers = [nn.Linear(d_vision, d_text), nn.GELU(approximate="tanh"), nn.Linear(d_text, d_text)]
            self.proj = nn.Sequential(*layers)
        else:
            raise ValueError(method)

    def forward(self, tokens):
        return self.proj(tokens)


# %% [wrong] brought_to_length_one | Brings every aligned token to length 1, as CLIP does, although forward should only put the tokens through self.proj. By hand (7.5, -1) becomes (0.991, -0.132).
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            self.proj = nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text))
        elif method == "identity" and d_vision == d_text:
            self.proj = nn.Identity()
        else:
            raise ValueError(f"no aligner {method!r} from {d_vision} to {d_text}")

    def forward(self, tokens):
        return F.normalize(self.proj(tokens), dim=-1)


# %% [right] table_of_makers | A dictionary of functions that make the part, and a KeyError turned into a ValueError.
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()

        def same():
            if d_vision - d_text:
                raise ValueError(f"{d_vision} numbers cannot stay as they are and be {d_text}")
            return nn.Identity()

        first = lambda: nn.Linear(d_vision, d_text)
        makers = {
            "identity": same,
            "linear": first,
            "mlp": lambda: nn.Sequential(first(), nn.GELU(), nn.Linear(d_text, d_text)),
        }
        try:
            make = makers[method]
        except KeyError:
            raise ValueError(f"{method!r} is none of {sorted(makers)}") from None
        self.add_module("proj", make())

    def forward(self, tokens):
        return self.proj.forward(tokens)
