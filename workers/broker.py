"""A worker outlives its broker. kombu's Redis transport would not: once an acknowledgement fails it fetches nothing more."""

from kombu.transport import redis, virtual


class ForgettingQoS(redis.QoS):
    """A message that cannot be acknowledged because its broker is gone is forgotten.

    kombu counts it as unfinished for ever; when all that a worker may hold are, the worker neither fetches another nor notices
    that its connection is cut. Nothing is lost: the message is only a hint, the job's row is the truth.
    """

    def ack(self, delivery_tag: str) -> None:
        try:
            super().ack(delivery_tag)
        except Exception:
            virtual.QoS.ack(self, delivery_tag)
            raise


def outlive() -> None:
    """Every Redis channel of this process forgets so."""
    redis.Channel.QoS = ForgettingQoS
