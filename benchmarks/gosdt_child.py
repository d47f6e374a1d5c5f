"""A tree of GOSDT for each line of standard input, told with the CPU seconds of its fit.

It needs a scikit-learn below 1.6, so it runs in an environment of its own and imports nothing of ours.
"""

import json
import math
import os
import resource
import signal
import sys
import time

import numpy as np
from gosdt import GOSDTClassifier


def fitted(asked):
    """What the tree says of both samples; None where the time did not suffice for one."""
    learn, judge = (np.array(asked[name], dtype=np.int64) for name in ("learn", "judge"))
    codes = np.array(asked["codes"], dtype=np.int64)
    model = GOSDTClassifier(
        regularization=1.0 / len(codes), depth_budget=asked["depth"], time_limit=asked["seconds"]
    )
    cpu, wall = time.process_time(), time.perf_counter()
    try:
        model.fit(learn, codes)
        said = [model.predict(rows).tolist() for rows in (learn, judge)]
    except Exception:  # whatever it says when its time is over
        said = None
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "said": said}


def within(asked):
    """The same by a process that the system ends after `cpu` seconds of CPU time, if they are given.

    The library looks at the clock on the wall, and beside others takes more time and memory than was asked.
    """
    if asked["cpu"] is None:
        return fitted(asked)
    begin = time.perf_counter()
    reading, writing = os.pipe()
    worker = os.fork()
    if worker == 0:
        most = math.ceil(asked["cpu"]) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 60))
        found = fitted(asked)
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)  # what was found is told whole
        with os.fdopen(writing, "w") as telling:
            json.dump(found, telling)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    used = os.wait4(worker, 0)[2]
    if said:
        return json.loads(said)
    return {"cpu": used.ru_utime + used.ru_stime, "wall": time.perf_counter() - begin, "said": None}


def main():
    answers = os.fdopen(os.dup(1), "w")  # the library writes warnings to standard output
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(within(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
