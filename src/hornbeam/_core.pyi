"""Hornbeam's native core."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


class CanonicalText:
    """The canonical form of a tree, written part by part."""

    def __init__(self, arrays: dict, names: Sequence[str], thresholds: Sequence[int], labels: Sequence[Sequence[str]], ranks: Sequence[Sequence[int]], classes: Sequence[str]) -> None: ...

    def next(self, length: int) -> bytes:
        """
        So many characters of it or some more, as ASCII; none when all were written.
        """

def checksum(columns: list[Any], n_rows: int) -> int:
    """
    The sum of the hashes of rows, columns given as tuples (values, missing, factor, table).
    """

def hash_rows(columns: list[Any], n_rows: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
    """The hash of each row (uint64), of which `checksum` gives the sum."""

def deal_folds(key: object, n_rows: int, k: int, seed: int) -> tuple:
    """
    The fold of each row (uint16) by its key, such a tuple with the factor 1, and how many are missing.
    """

class EncodedTable:
    """Columns presorted for the grower."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    def column(self, j: int) -> dict:
        """A copy of column j as a dict of arrays."""

def encode(columns: list, n_rows: int, threads: int = 1) -> EncodedTable:
    """
    Presorts columns given as tuples (kind, values, missing, n_categories).
    """

def ends_of_cuts(arrays: dict[str, Any], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_depth: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], min_split: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], min_decrease: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    (ends, leaves, depth) of the prefixes of a tree that each cut leaves: ends[cut * nodes + node] is where examples that reach a node end, -1 where they go on.
    """

def ends_of_alphas(arrays: dict[str, Any], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], alphas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """The same for cost-complexity pruning with each of the alphas."""

def leaf_places(arrays: dict[str, Any]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """How many leaves come before each node, from left to right."""

def cut_tree(arrays: dict[str, Any], end: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> dict:
    """The tree of one prefix, given its ends."""

class Forest:
    @property
    def n_sets(self) -> int: ...

    @property
    def n_nodes(self) -> int: ...

    def take_order(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """
        The rows of the only set, leaf after leaf in preorder; can be taken once.
        """

    def tree(self, set: int, setting: int = 0) -> dict: ...

    def nodes(self, set: int) -> dict:
        """
        The nodes of a training set's trees under all settings, as so many leaves.
        """

    def ends(self, set: int, table: RoutedTable, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        [setting * rows + row]: which of the training set's nodes answers each of some rows.
        """

    def class_weight(self, arg: int, /) -> list[float]:
        """
        What each class weighs in a training set; nothing where all weigh the same.
        """

    def release(self, arg: int, /) -> None:
        """Forget the trees of a training set: they cannot be had again."""

    def levels(self) -> dict:
        """
        By depth: seconds of tests, statistics, numeric and other work, nodes of the forest, entries read, and entries that the sets would have read one by one.
        """

def kernels() -> list[str]: ...

def xlog(m: float) -> float:
    """m log2 m, correctly rounded."""

def grow(table: EncodedTable, target: object, n_classes: int, *, criterion: str, nominal: str, max_depth: int, min_samples_split: object, settings: list, min_impurity_decrease: float, multiplicity: object | None, threads: int = 1, kernels: str = 'auto', accelerate: bool = True, joint: bool = True, twigs: bool = True, counting: str = 'auto', algorithm: str = 'auto', consume: bool = False, report: object | None = None, weights: object | None = None, class_weight: object | None = None, costs: object | None = None, competitors: int = 0, whole: list = []) -> Forest: ...

def encode_labels(values: object | None) -> tuple:
    """
    Codes (int32, -1 for None or NaN) and the labels in order of their UTF-8 bytes.
    """

def encode_ints(values: Annotated[NDArray[numpy.int64], dict(shape=(None,), device='cpu', writable=False)]) -> tuple:
    """Codes (int32) and the distinct values in ascending order."""

def recode(values: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], low: int = 0) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """
    The entry of a table that begins at low for each integer, and its last for those beyond it.
    """

class Lookahead:
    """Trees whose tests are judged by trees sampled below them."""

    def __init__(self, table: EncodedTable, classes: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, *, nominal: str = 'value', endings: bool = True, aborts: bool = True, fast: bool = True, threads: int = 1, kernels: str = 'auto') -> None: ...

    def build(self, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int, r: int, *, sample_fraction: float | None = None, draws: int | None = None, seconds: float = float('inf')) -> dict | None:
        """A tree as arrays in preorder; None where the time ran out."""

    def size(self, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int) -> int:
        """The leaves of one sampled tree."""

    def totals(self, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int, r: int, *, sample_fraction: float | None = None, draws: int | None = None) -> list:
        """What is seen at the node of these rows: a dict for each test."""

    def bound(self, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """A proved lower bound of the leaves that the rows need."""

    def prove(self, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, seconds: float = float('inf'), most_nodes: int = 1048576, upper: int | None = None) -> dict:
        """
        Bounds of the leaves that the rows need: lower, upper (None: no tree is known), and the sketch of a smaller tree than was known.
        """

def flat(sketch: dict, n_classes: int) -> dict:
    """A sketch as the arrays of a tree."""

def prune_by_errors(arrays: dict[str, Any], attribute_kinds: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: list[Any], target: object, confidence: float, criterion: str, weights: object | None, costs: tuple, order: object | None) -> dict:
    """
    C4.5's error-based pruning; columns, target and weights are those that the tree was grown from. costs: what classes weigh, what mistakes cost, and the factors of qualities, each an array or None; order: the rows leaf after leaf, where known.
    """

def prune_by_validation(arrays: dict[str, Any], attribute_kinds: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: list[Any], target: object, threads: int, weights: object | None, costs: tuple, said: object | None) -> dict:
    """
    Reduced-error pruning with rows that were kept out of growing; said: the class that each node predicts.
    """

def prune_by_complexity(arrays: dict[str, Any], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], alpha: float) -> dict:
    """Cost-complexity pruning: links up to alpha are cut."""

def complexity_path(arrays: dict[str, Any], mass: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    (alphas, impurities) of cost-complexity pruning, a pair for each tree of the path.
    """

def collapse(arrays: dict[str, Any], said: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> dict:
    """
    C4.5's last step of growth: subtrees that make no fewer errors than a leaf become one.
    """

def masses(count_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], count_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The weight of each node with every class times its factor."""

def expected_errors(n: float, e: float, confidence: float) -> float:
    """What C4.5 expects n rows to get wrong of which e were."""

class RelationalDatabase:
    """Examples and the coded relations of their facts."""

    def __init__(self, keys: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], domains: list, relations: list) -> None: ...

    @property
    def bytes(self) -> int: ...

class LanguageBias:
    """Which tests there are, by numbers of types and predicates."""

    def __init__(self, database: RelationalDatabase, key_type: int, domain_of: Sequence[int], modes: list, lookaheads: list, max_lookahead: int, n_names: int) -> None: ...

class FirstOrderForest:
    """The first-order trees of several training sets."""

    @property
    def n_counts(self) -> int: ...

    def tree(self, set: int) -> dict:
        """A set's tree as arrays in preorder."""

    def tests(self) -> list:
        """Every test: (predicate, terms, named) for each literal."""

    def thresholds(self) -> list:
        """(domain, lo, hi) for each."""

    def levels(self) -> dict:
        """By depth: seconds of evaluating, statistics, partition, other; counts."""

    def counters(self) -> dict: ...

    def dropped(self) -> list:
        """(test, examples, sets) for each test that cost more than the budget."""

def grow_first_order(database: RelationalDatabase, bias: LanguageBias, target: object, n_classes: int, sets: object, *, criterion: str, min_samples_leaf: int, max_depth: int, ftest: float, accuracy: float, algorithm: str, pack: bool, connected: bool, collect: bool, cache: bool, cache_bytes: int, budget: int, threads: int, n_named: int, report: object | None) -> FirstOrderForest: ...

def first_refinements(database: RelationalDatabase, bias: LanguageBias) -> list:
    """
    The tests offered at the root, in their order, every constant written out.
    """

def solve_query(database: RelationalDatabase, query: list, examples: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

def query_witness(database: RelationalDatabase, query: list, example: int) -> list[int]:
    """
    The rows of the first solution, -1 for comparisons; nothing where there is none.
    """

def route_first_order(database: RelationalDatabase, tests: list, yes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], no: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], examples: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

def exponent_span(values: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> tuple[int, int] | None:
    """
    (a, b): every number is a whole multiple of 2^a and below 2^b in size; None: all are 0.
    """

class RowLayout:
    def __init__(self, attributes: list, n_classes: int, n_folds: int = 1, weights: object | None = None, targets: object | None = None, n_targets: int = 0, rows: int = 0) -> None:
        """
        attributes: (0, lowest, highest) floats, (1, lowest, highest) integers, (2, categories, None). Integers that span all 64 bits need a fourth number, one between them that no row has. weights, targets: the exponents that they span, of so many rows.
        """

    @property
    def sum_words(self) -> int:
        """Words of the sums that a row has besides its number."""

    @property
    def sum_fields(self) -> list[int]:
        """
        Words of each sum: of weights, where rows weigh differently; of each target; of its squares.
        """

    @property
    def stride(self) -> int: ...

    def keys(self, attribute: int, values: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], missing: object | None = None) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """
        The keys of values: whole numbers from 0 in their order; a missing one is past the highest.
        """

    def value(self, attribute: int, key: int) -> object:
        """The value that a key stands for."""

    def missing_key(self, arg: int, /) -> int: ...

class Grid:
    def __init__(self, layout: RowLayout, edges: list) -> None: ...

    def size(self, attribute: int) -> int: ...

    def edges(self, attribute: int) -> object:
        """What the grid was made from."""

    def single(self, attribute: int, bucket: int) -> bool: ...

    def low(self, attribute: int, bucket: int) -> int:
        """The least key of a bucket."""

    def high(self, attribute: int, bucket: int) -> int:
        """The greatest key of a bucket."""

    def of(self, attribute: int, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The bucket of each key."""

class KeptRows:
    @property
    def rows(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    def blocks(self) -> list:
        """The rows as bytes, block by block."""

    def encode(self, others: list = []) -> tuple:
        """
        The table of these rows, and of others that were put away; their classes or targets, weights and folds.
        """

    def take(self, arg: KeptRows, /) -> None: ...

def give_back() -> None:
    """Give memory that is free back to the operating system."""

class PlaceCounts:
    pass

class SourceScan:
    def __init__(self, layout: RowLayout, grid: Grid, places: list) -> None: ...

    def add(self, columns: list, classes: object | None, folds: object | None = None, weights: object | None = None, targets: object | None = None, place: int = 0, away: bool = False) -> None:
        """
        Rows as (values, missing or None) for each column, with their classes or targets, from a place on; away: they were added before.
        """

    def add_rows(self, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], place: int = 0) -> None:
        """Rows that were kept, from a place on."""

    def add_kept(self, rows: KeptRows, place: int = 0, away: bool = False) -> None: ...

    def send_kept(self, rows: KeptRows, place: int) -> None:
        """Sends rows that a place has counted before on their way."""

    def send_on(self, rows: list, place: int) -> None:
        """Sends rows that a place has counted before on their way."""

    def put_back(self, rows: KeptRows, place: int) -> None:
        """Rows that a place has counted before are kept there again."""

    def put_bytes(self, rows: bytes, place: int) -> None:
        """The same of rows as another process has them."""

    def merge(self, arg: SourceScan, /) -> None: ...

    def fresh(self) -> SourceScan:
        """A scan of the same places that has seen no rows."""

    def to_bytes(self, rows: bool = True) -> bytes:
        """
        All that was found, for another process to merge; without the rows that are kept, or with them.
        """

    def merge_bytes(self, found: bytes) -> None:
        """Takes in what another scan of the same places has found."""

    def totals(self, arg: int, /) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    def total_sums(self, place: int, left_out: int = -1) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """By class, of the rows of all folds but one."""

    def counts(self, place: int, attribute: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """[bucket, then missing][joint class], flat."""

    def forget_watches(self, arg: int, /) -> None:
        """Lets the keys that were kept go."""

    def release(self, arg: int, /) -> None:
        """Lets go of all that is known of a place but its totals."""

    def touched(self, arg: int, /) -> bool:
        """Whether rows came to a place, or went, since `forget_touches`."""

    def forget_touches(self) -> None:
        """No place counts as touched any more."""

    def rows_at(self, arg: int, /) -> int: ...

    def bytes_at(self, arg: int, /) -> int: ...

    def complete(self, arg: int, /) -> bool: ...

    def take_rows(self, arg: int, /) -> KeptRows:
        """The rows that are kept at a place, which has none then."""

    def take_counts(self, arg: int, /) -> PlaceCounts:
        """The counts of a place, which has none then."""

    def count_rest(self, of_both: PlaceCounts, counted: int, rest: int) -> None:
        """
        Of a place whose rows went to two others, one of which has counted them: the counts of the other are the rest.
        """

    def gather(self, arg: int, /) -> KeptRows: ...

    def add_place(self, arg: dict, /) -> int: ...

    def replace_place(self, arg0: int, arg1: dict, /) -> None: ...

    def lead(self, place: int, test: object | None) -> None:
        """The way of rows that come to a place from now on."""

    def watch_as(self, place: int, other: SourceScan, of: int) -> None:
        """
        Watches what a place of another scan watched; its rows are those of this place.
        """

    def decide_by(self, place: int, route: dict) -> None:
        """
        Gives a place its true test, as `Settled.route` has it, and sends the rows it held on their way.
        """

    def place(self, place: int) -> dict:
        """A place as a scan is made from it."""

    def look_up(self, place: int, watches: list) -> None:
        """
        Finds the keys of some buckets among the rows that are kept at and below a place.
        """

    def look_on(self, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], place: int, n_watches: int) -> None:
        """The same for the last watches, among rows that were put away."""

    def counted(self, arg: int, /) -> bool: ...

    def keeps(self, arg: int, /) -> bool: ...

    @property
    def n_places(self) -> int: ...

    @property
    def weighted(self) -> bool: ...

    @property
    def bytes(self) -> int: ...

    @property
    def rows_kept(self) -> int: ...

def exact_sum(factors: list[Any]) -> bytes:
    """
    The sum over rows of the products of one to three columns (float64), without any rounding: a whole number of 2^(-1074 * columns), in two's complement, the lowest byte first.
    """

class Settled:
    @property
    def state(self) -> str: ...

    @property
    def attribute(self) -> int: ...

    @property
    def numeric(self) -> bool: ...

    @property
    def lo(self) -> int: ...

    @property
    def hi(self) -> int: ...

    @property
    def default_child(self) -> int: ...

    @property
    def branches(self) -> list[tuple[int, int]]: ...

    @property
    def quality(self) -> float: ...

    @property
    def gain(self) -> float: ...

    @property
    def bound(self) -> float: ...

    @property
    def exact(self) -> bool:
        """
        Whether there is a test, and the values on both sides of its cut are known.
        """

    @property
    def n_children(self) -> int: ...

    @property
    def alive(self) -> list[tuple[int, int]]: ...

    def child_counts(self, arg: int, /) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    def child_sums(self, arg: int, /) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    def route(self, arg0: RowLayout, arg1: Sequence[int], /) -> dict: ...

class Settling:
    def __init__(self, *, criterion: str, nominal: str, layout: RowLayout, wholes: list, max_depth: int, min_samples_split: object, min_samples_leaf: object, min_objs: object | None, min_impurity_decrease: float, many_valued: Sequence[Sequence[int]], kernels: str = 'auto', sums: list = [], class_weight: object | None = None, costs: object | None = None) -> None: ...

    def whole(self, set: int) -> tuple:
        """(mass, weight, many_valued, factors of classes) of a training set."""

    def set_many_valued(self, set: int, many_valued: Sequence[int]) -> None: ...

    def class_weight(self, set: int) -> list[float]:
        """
        What each class weighs in a training set; nothing where all weigh the same.
        """

    def open_apart(self, set: int, counts: Sequence[int], sums: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """A node that is only judged, by its rows of each class and their sums."""

    def open_root(self, set: int) -> int:
        """The node of a set's root; -1 for a leaf."""

    def settle(self, node: int, scan: SourceScan, place: int, left_out: int = -1, margin: float = 0.0, looked_into: list = [], best: Settled | None = None) -> Settled:
        """
        Judges a node by what a scan knows of its place. Buckets that were looked into before, as watches, do not leave it open; the best test until then, if given, is one of those to choose from.
        """

    def look(self, node: int, scan: SourceScan, place: int, attribute: int, left_out: int = -1) -> Settled:
        """The best test of one attribute."""

    def choose(self, arg0: int, arg1: list, /) -> Settled:
        """The test of a node from those of its attributes, in their order."""

    def keep(self, *, node: int, kind: int, attribute: int, default_child: int, threshold: tuple[float, int], branches: Sequence[tuple[int, int]], counts: Sequence[Sequence[int]], sums: Sequence[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> Settled:
        """
        The test that a node has already, by the rows of each class in its branches and their sums: a threshold as (number, whole number), or the branches of the categories present.
        """

    def split(self, arg0: int, arg1: Settled, /) -> list[int]:
        """Writes the test of a node down; its children's nodes, -1 for leaves."""

    def depth(self, arg: int, /) -> int: ...

    def counts(self, arg: int, /) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    def graft(self, node: int, forest: Forest, set: int = 0) -> None:
        """Puts a tree grown from the rows of a node in its place."""

    def graft_kept(self, tree: dict, kept: Sequence[tuple[int, int]]) -> None:
        """
        Puts subtrees of another tree in the place of nodes that have the same rows: (node, number there).
        """

    def tree(self, arg: int, /) -> dict: ...

def stop_thread(thread: int) -> None:
    """
    The native work that a thread is in, or comes to next, ends soon with KeyboardInterrupt.
    """

def forget_stop(thread: int) -> None:
    """Takes such a request back, if it was not heard."""

class Router:
    """A tree made ready to send rows to their leaves."""

    def __init__(self, arrays: dict[str, Any], attribute_kinds: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def apply(self, columns: list[Any], n_rows: int, threads: int = 1) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """The leaf (node index) of each row."""

    def path(self, columns: list[Any], n_rows: int, threads: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """The nodes on the path of each row: (indptr, indices)."""

class RoutedTable:
    """A table whose rows are sent down many trees."""

    def __init__(self, columns: list[Any], n_rows: int, attribute_kinds: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def leaves(self, arrays: dict[str, Any], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        The leaf of each of some rows in a tree that the core has grown: it is not verified.
        """

def heaviest_classes(count_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], count_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]:
    """The class of the largest sum at each node, among equals the first."""

def verify_tree(arrays: dict[str, Any], attribute_kinds: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Raises ValueError, in one line that names the node, where the arrays are no valid tree.
    """
