"""The loop of every algorithm: act, now and then refit the model and imagine, improve, evaluate, save."""

from collections.abc import Sequence

from macura.runs import Sink
from macura.training.interrupt import listening
from macura.training.session import Session


def train(session: Session, sinks: Sequence[Sink] = ()) -> None:
    """Go on from where the session is to its last step.

    On an interrupt the current step is finished; the run then goes on from its last checkpoint as if it had
    never been interrupted.
    """
    config = session.config
    with listening() as stop, session.recording(sinks):
        while session.step < config.steps:
            if session.step % config.epoch_steps == 0:
                session.begin_epoch()
            session.act()
            if config.is_round(session.step):
                session.fit_model()
                session.imagine()
            session.improve()
            if session.step % config.epoch_steps == 0 or session.step == config.steps:
                session.evaluate()
                session.save()
            stop.raise_if_asked()
