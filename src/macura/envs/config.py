"""Which environment, and what we change about it."""

from dataclasses import dataclass, replace

from macura.core import UserError
from macura.envs import registry


@dataclass(frozen=True)
class EnvConfig:
    """The environment of a run."""

    id: str = "InvertedPendulum-v5"
    """A Gymnasium id, dm_control/DOMAIN-TASK-v0, or package.module:function that makes an environment."""
    action_noise: float = 0.0
    """Sigma of Gaussian noise on every action, unseen by the agent; 1 is half the range of the action."""
    contact_cost: bool | None = None
    """Ant and Humanoid only: charge for contact forces, as Gymnasium's v5 does; the published runs did not."""
    time_limit: int | None = None
    """Cut episodes after this many steps (not an end of the task); without it, the environment's own limit."""


def resolve(config: EnvConfig) -> EnvConfig:
    """The same environment with its defaults filled in; `UserError` if it is unknown or asks for the impossible."""
    check_numbers(config)
    if not registry.is_function(config.id):
        registry.require_known(config.id)
    has_contacts = registry.has_contact_cost(config.id)
    if config.contact_cost is not None and not has_contacts:
        raise UserError(
            f"{config.id} has no contact cost to choose, only Ant and Humanoid have;"
            " leave --env.contact-cost out."
        )
    if has_contacts and config.contact_cost is None:
        return replace(config, contact_cost=False)
    return config


def check_numbers(config: EnvConfig) -> None:
    """Refuse noise and time limits that make no sense."""
    if not 0.0 <= config.action_noise < float("inf"):
        raise UserError(
            f"The action noise is {config.action_noise}, but a standard deviation is a number from 0 up;"
            " try --env.action-noise 0.1."
        )
    if config.time_limit is not None and config.time_limit < 1:
        raise UserError(
            f"The time limit is {config.time_limit}, but an episode has at least one step;"
            " try --env.time-limit 1000."
        )
