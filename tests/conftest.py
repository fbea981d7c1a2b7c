"""What every test needs from the process it runs in."""

from __future__ import annotations

import signal

# A shell starts background jobs with SIGINT ignored, and children inherit that: the tests that interrupt a
# command would then wait for it for ever. A handler of ours becomes the default action in a child.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
