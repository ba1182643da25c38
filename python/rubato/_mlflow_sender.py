"""Sends metrics to MLflow from a thread of its own: a server that does not answer is asked for minutes, and
the training must not wait for that.
"""

import atexit
import os
import queue
import threading

LAST_WORDS_S = 2.0  # how long the end of the program may be put off for what is not sent yet


class Sender:
    def __init__(self):
        self._queue = queue.SimpleQueue()
        self._given_up = set()  # runs whose server failed once
        self._pid = None

    def send(self, client, run_id, metrics):
        if run_id in self._given_up:
            return
        if self._pid != os.getpid():  # the first time, and in a forked child
            self._pid = os.getpid()
            self._queue = queue.SimpleQueue()
            thread = threading.Thread(target=self._run, args=(self._queue,), name="rubato-mlflow")
            thread.daemon = True
            thread.start()
            atexit.register(self._finish, thread, self._queue, self._pid)
        self._queue.put((client, run_id, metrics))

    def _run(self, waiting):
        while True:
            item = waiting.get()
            if item is None:
                return
            client, run_id, metrics = item
            if run_id not in self._given_up:
                try:
                    client.log_batch(run_id, metrics=metrics)
                except Exception:
                    self._given_up.add(run_id)

    @staticmethod
    def _finish(thread, waiting, pid):
        if pid == os.getpid():
            waiting.put(None)
            thread.join(LAST_WORDS_S)
