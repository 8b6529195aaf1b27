"""How are networks shaped, initialised, and applied as an ensemble? No RL words."""

from macura.nn import mlp as mlp
from macura.nn.descend import descend as descend
from macura.nn.initialisers import truncated_normal as truncated_normal
from macura.nn.initialisers import xavier_uniform as xavier_uniform
from macura.nn.mlp import MLP as MLP
