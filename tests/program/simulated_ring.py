"""The switches between neighbours, each PE's own: to whom it sends, and from whom it takes."""

import numpy as np

from lairmake.stages.program.sections.hops import RING, STEPS


class SimulatedRing:
    """The states of the sending and the taking switch of each PE of a field.

    A PE's ring has the states that it can be in: taking those of the sides where it has a
    neighbour, sending those opposite to which it has one.
    """

    def __init__(self, columns, rows):
        x, y = np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij")
        self.has_take, self.has_send = [], []
        for side in RING:
            dx, dy = STEPS[side]
            for found, sign in ((self.has_take, 1), (self.has_send, -1)):
                at = x + sign * dx, y + sign * dy
                found.append(
                    (at[0] >= 0) & (at[0] < columns) & (at[1] >= 0) & (at[1] < rows))
        self.taking, self.sending = self.first(self.has_take), self.first(self.has_send)

    def first(self, has, after=-1):
        """Return the first state of each PE behind a state, around the ring."""
        found = np.full(has[0].shape, -1)
        for k in range(len(RING)):
            state = (after + 1 + k) % len(RING)
            found = np.where((found < 0) & has[state], state, found)
        return found

    def advance(self, state):
        """Let all who can send in a state, which they must be in, turn own and taker's switch."""
        takes, sends = self.has_take[state], self.has_send[state]
        assert (self.taking[takes] == state).all() and (self.sending[sends] == state).all()
        self.taking = np.where(takes, self.first(self.has_take, state), self.taking)
        self.sending = np.where(sends, self.first(self.has_send, state), self.sending)

    def turn(self, state, turns):
        """Pass over as many states, up to one."""
        for k in range(turns, 0, -1):
            self.advance((state - k) % len(RING))

    def is_at_beginning(self):
        """Whether all switches are as they were before the first transfer."""
        return bool((self.taking == self.first(self.has_take)).all()
                    and (self.sending == self.first(self.has_send)).all())
