"""What the BOAT paper says, as it is printed there."""

from functools import partial

from hornbeam_experiments import paper as papers

paper = partial(papers.paper, __package__)
said = partial(papers.said, package=__package__)
