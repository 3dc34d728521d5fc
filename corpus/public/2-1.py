# %% [right] if_elif_raise_projector | chain of if and elif ending in a raise, after haotian-liu/LLaVA (build_vision_projector)
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method == "linear":
            self.proj = nn.Linear(d_vision, d_text)
        elif method == "mlp":
            modules = [nn.Linear(d_vision, d_text)]
            modules.append(nn.GELU())
            modules.append(nn.Linear(d_text, d_text))
            self.proj = nn.Sequential(*modules)
        elif method == "identity":
            if d_vision != d_text:
                raise ValueError(f"identity needs equal widths, got {d_vision} and {d_text}")
            self.proj = nn.Identity()
        else:
            raise ValueError(f"Unknown projector type: {method}")

    def forward(self, tokens):
        return self.proj(tokens)


# %% [right] dictionary_of_builders | a dictionary of lambdas and a KeyError turned into a ValueError, after registries of activations and projectors, a common pattern
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        builders = {
            "linear": lambda: nn.Linear(d_vision, d_text),
            "mlp": lambda: nn.Sequential(nn.Linear(d_vision, d_text), nn.GELU(), nn.Linear(d_text, d_text)),
            "identity": nn.Identity,
        }
        if method not in builders:
            raise ValueError(f"method must be one of {sorted(builders)}, not {method!r}")
        if method == "identity" and d_vision != d_text:
            raise ValueError("identity alignment requires d_vision == d_text")
        self.proj = builders[method]()

    def forward(self, tokens):
        return self.proj(tokens)


# %% [right] match_statement_static_method | match/case in a static method, checked before the layers are made, after recent Python style projector code (open_clip factory style)
class TokenAligner(nn.Module):
    def __init__(self, d_vision: int, d_text: int, method: str = "linear"):
        super().__init__()
        self.d_vision, self.d_text, self.method = d_vision, d_text, method
        self.proj = self._build(d_vision, d_text, method)

    @staticmethod
    def _build(d_in, d_out, kind):
        match kind:
            case "linear":
                return nn.Linear(d_in, d_out)
            case "mlp":
                return nn.Sequential(nn.Linear(d_in, d_out), nn.GELU(), nn.Linear(d_out, d_out))
            case "identity" if d_in == d_out:
                return nn.Identity()
            case "identity":
                raise ValueError("widths differ, so there is no identity between them")
            case _:
                raise ValueError(f"no such alignment: {kind!r}")

    def forward(self, tokens):
        aligned = self.proj(tokens)
        return aligned


# %% [right] xavier_started_projector | layers started with xavier and zero bias, after salesforce/LAVIS style projections
class TokenAligner(nn.Module):
    def __init__(self, d_vision, d_text, method="linear"):
        super().__init__()
        if method not in ("linear", "mlp", "identity"):
            raise ValueError(method)
        if method == "identity":
            if d_vision != d_text:
                raise ValueError((d_vision, d_text))
            self.proj = nn.Identity()
        else:
            first = nn.Linear(d_vision, d_text)
            self.proj = first if method == "linear" else nn.Sequential(first, nn.GELU(), nn.Linear(d_text, d_text))
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.xavier_uniform_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, tokens):
        return self.proj(tokens)
