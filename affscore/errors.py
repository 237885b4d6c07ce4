"""The one error that the library raises for its users, and the one warning."""


class AffscoreError(ValueError):
    """What was asked for cannot be done, and the message says why in one sentence.

    Everything that a caller can cause and repair (a shape that does not match, a value that is not finite,
    the name of a model that does not exist) is raised as this class, so that one ``except`` is enough and
    commands can print the sentence without a traceback. It is a ``ValueError``, for callers who do not want
    to know about this package.
    """


class AffscoreWarning(UserWarning):
    """A number of the result is likely wrong, and the message says which choice would mend it.

    Each kind of warning is given once a call, and stands among the notes of the result, too. What a reader should
    know, but makes no number wrong, is a note only.
    """
