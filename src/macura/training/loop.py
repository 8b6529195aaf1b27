"""The loop of every algorithm: act, store, now and then refit the model and imagine, improve, evaluate, save."""

from macura.training.interrupt import listening
from macura.training.session import Session


def train(session: Session) -> None:
    """Go on from where the session is to its last step.

    On an interrupt, or a failure of the environment, what may be saved without breaking exact resumption is saved.
    """
    config = session.config
    with listening() as stop, session.recording():
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
