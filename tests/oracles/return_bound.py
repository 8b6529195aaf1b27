"""Both sides of the return bound, one pair of rollouts and one step at a time."""

import math


def both_sides(true_reward, model_reward, inside, supremum, discount):
    """(eta, eta of the model, mean C, C of the longest T) over pairs that start inside.

    `inside[t][i]` says whether both rollouts of pair i are in E after t steps; the reward of a step is that of
    the state it reaches.
    """
    horizon, pairs = len(true_reward), len(true_reward[0])
    etas, model_etas, bounds = [], [], []
    for i in range(pairs):
        if not inside[0][i]:
            continue
        first_outside = next((t for t in range(horizon + 1) if not inside[t][i]), horizon)
        stop = min(first_outside, horizon) - 1
        eta = model_eta = bound = 0.0
        for t in range(stop + 1):
            eta += discount**t * true_reward[t][i]
            model_eta += discount**t * model_reward[t][i]
            bound += 2 * discount**t * sum(supremum for _ in range(t + 1))
        etas.append(eta)
        model_etas.append(model_eta)
        bounds.append(bound)
    certain = sum(2 * discount**t * (t + 1) * supremum for t in range(horizon))
    return (*(math.fsum(values) / len(values) for values in (etas, model_etas, bounds)), certain)
