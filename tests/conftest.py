"""For all tests: one thread of torch each, for they run side by side and two cores are all that is asked for."""

import torch

torch.set_num_threads(1)
