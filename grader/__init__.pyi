from grader.declare.authoring import *  # noqa: F403  (a stub: it names nothing else)

__version__: str
