"""What a forked child must not inherit.

A child that is forked while a statement runs would tell its parent's statement of the child's signals.
"""

import os
import signal
import threading


def _forget_signals() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_signals)
