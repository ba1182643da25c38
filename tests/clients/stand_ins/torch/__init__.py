"""The few words of PyTorch that Zeus says: its monitor waits for the GPU through them. The simulated trainer reports an
iteration when the GPU has finished it, so there is nothing to wait for."""


class cuda:  # noqa: N801
    @staticmethod
    def is_available():
        return True

    @staticmethod
    def synchronize(device=None):
        pass


class distributed:  # noqa: N801
    @staticmethod
    def is_available():
        return False
