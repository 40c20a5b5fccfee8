"""Search trees of stored rows, by a float: how many rows have a key in a range, and the bounds of their times, in logarithmic time.

A row is a node. Its words from column `first` on are links to smaller and larger keys (row + 1, 0 for none), then what holds for all rows
of its subtree. The shape is that of a treap: a node's priority is a hash of its row number, so a tree is balanced whatever the order of
keys. Source: Seidel and Aragon 1996, "Randomized search trees".
"""

from engine.core.kernels.hashing import mix64
from engine.core.layout import *

# words of a node: links, then of its subtree: number of rows, newest and oldest contributor, last and first event time; then its own key,
# its place in the order in which rows came, and a link for searches
TREE_SMALLER, TREE_LARGER, TREE_COUNT, TREE_NEWEST, TREE_OLDEST, TREE_LAST, TREE_FIRST, TREE_KEY, TREE_ORDER, TREE_LINK = range(10)
TREE_WORDS = 10
# what a search finds: number of rows that are no newer than a given time, and bounds of their times as in a node; number of newer ones, and
# the first of them (row + 1), linked to the others by TREE_LINK in the order in which they came; whether a key lies at a bound of the range
FOUND_COUNT, FOUND_OLDEST, FOUND_LAST, FOUND_FIRST, FOUND_NEWER, FOUND_LIST, FOUND_NEAR = range(7)
FOUND_WORDS = 7


def summarise(row, first, r):
    """Set the words of node `r` about its subtree, from those of the nodes below."""
    count = 1
    newest = row[r, R_NEWEST]
    oldest = row[r, R_OLDEST]
    last = row[r, R_EVENT]
    earliest = row[r, R_EVENT]
    for side in range(2):
        below = row[r, first + side] - 1
        if below >= 0:
            count += row[below, first + TREE_COUNT]
            newest = max(newest, row[below, first + TREE_NEWEST])
            oldest = min(oldest, row[below, first + TREE_OLDEST])
            last = max(last, row[below, first + TREE_LAST])
            earliest = min(earliest, row[below, first + TREE_FIRST])
    row[r, first + TREE_COUNT] = count
    row[r, first + TREE_NEWEST] = newest
    row[r, first + TREE_OLDEST] = oldest
    row[r, first + TREE_LAST] = last
    row[r, first + TREE_FIRST] = earliest


def add_to_tree(row, row_f, first, root, r, key, order):
    """Add row `r` under a key to the tree with this root (row + 1, 0 for none). order: larger than those of rows that came before. Returns
    the new root."""
    row_f[r, first + TREE_KEY] = key
    row[r, first + TREE_ORDER] = order
    priority = mix64(r)
    new_root = root
    above = -1
    link = 0
    x = root - 1
    while x >= 0 and mix64(x) > priority:
        row[x, first + TREE_COUNT] += 1
        row[x, first + TREE_NEWEST] = max(row[x, first + TREE_NEWEST], row[r, R_NEWEST])
        row[x, first + TREE_OLDEST] = min(row[x, first + TREE_OLDEST], row[r, R_OLDEST])
        row[x, first + TREE_LAST] = max(row[x, first + TREE_LAST], row[r, R_EVENT])
        row[x, first + TREE_FIRST] = min(row[x, first + TREE_FIRST], row[r, R_EVENT])
        above = x
        link = TREE_LARGER if row_f[x, first + TREE_KEY] <= key else TREE_SMALLER
        x = row[x, first + link] - 1
    if above >= 0:
        row[above, first + link] = r + 1
    else:
        new_root = r + 1
    split_under(row, row_f, first, x, r, key)
    return new_root


def split_under(row, row_f, first, x, r, key):
    """Put the subtree of node `x` (-1 for none) under node `r`: up to the key as its smaller, the rest as its larger nodes."""
    path = -1  # the nodes whose subtree changes, each linked to the one before by TREE_COUNT
    smaller_at = r
    smaller_link = TREE_SMALLER
    larger_at = r
    larger_link = TREE_LARGER
    while x >= 0:
        row[x, first + TREE_COUNT] = path
        path = x
        if row_f[x, first + TREE_KEY] <= key:
            row[smaller_at, first + smaller_link] = x + 1
            smaller_at = x
            smaller_link = TREE_LARGER
            x = row[x, first + TREE_LARGER] - 1
        else:
            row[larger_at, first + larger_link] = x + 1
            larger_at = x
            larger_link = TREE_SMALLER
            x = row[x, first + TREE_SMALLER] - 1
    row[smaller_at, first + smaller_link] = 0
    row[larger_at, first + larger_link] = 0
    while path >= 0:
        before = row[path, first + TREE_COUNT]
        summarise(row, first, path)
        path = before
    summarise(row, first, r)


def clear_found(found, f, at):
    """Begin a search whose result is in row `f` of a table, from column `at` on."""
    found[f, at + FOUND_COUNT] = 0
    found[f, at + FOUND_OLDEST] = FAR
    found[f, at + FOUND_LAST] = -FAR
    found[f, at + FOUND_FIRST] = FAR
    found[f, at + FOUND_NEWER] = 0
    found[f, at + FOUND_LIST] = 0
    found[f, at + FOUND_NEAR] = 0


def add_found(found, f, at, count, oldest, last, earliest):
    found[f, at + FOUND_COUNT] += count
    found[f, at + FOUND_OLDEST] = min(found[f, at + FOUND_OLDEST], oldest)
    found[f, at + FOUND_LAST] = max(found[f, at + FOUND_LAST], last)
    found[f, at + FOUND_FIRST] = min(found[f, at + FOUND_FIRST], earliest)


def add_newer(row, first, x, found, f, at):
    """Put row `x` into the list of newer ones, in the order in which they came."""
    found[f, at + FOUND_NEWER] += 1
    before = -1
    y = found[f, at + FOUND_LIST] - 1
    while y >= 0 and row[y, first + TREE_ORDER] < row[x, first + TREE_ORDER]:
        before = y
        y = row[y, first + TREE_LINK] - 1
    row[x, first + TREE_LINK] = y + 1
    if before >= 0:
        row[before, first + TREE_LINK] = x + 1
    else:
        found[f, at + FOUND_LIST] = x + 1


def add_node(row, first, x, time, found, f, at):
    if row[x, R_NEWEST] <= time:
        add_found(found, f, at, 1, row[x, R_OLDEST], row[x, R_EVENT], row[x, R_EVENT])
    else:
        add_newer(row, first, x, found, f, at)


def add_subtree(row, first, link, time, found, f, at):
    """Add all rows of a subtree to what was found: at once where none is newer than `time`. link: its root (row + 1, 0 for none)."""
    waiting = link  # nodes to look at, linked by TREE_LINK; a node is found only after it has left this list
    if waiting > 0:
        row[waiting - 1, first + TREE_LINK] = 0
    while waiting > 0:
        x = waiting - 1
        waiting = row[x, first + TREE_LINK]
        if row[x, first + TREE_NEWEST] <= time:
            add_found(
                found, f, at, row[x, first + TREE_COUNT], row[x, first + TREE_OLDEST], row[x, first + TREE_LAST], row[x, first + TREE_FIRST]
            )
        else:
            for side in range(2):
                below = row[x, first + side]
                if below > 0:
                    row[below - 1, first + TREE_LINK] = waiting
                    waiting = below
            add_node(row, first, x, time, found, f, at)


def find_range(row, row_f, first, root, low, high, margin, time, found, f, at):
    """Find the rows whose key is from `low` to `high`. FOUND_NEAR becomes 1 if a key is outside, by less than `margin`.

    The keys next to a bound are on the path to it, so every one that is near is seen."""
    x = root - 1
    inside = 0
    near = 0
    while x >= 0 and inside == 0:
        key = row_f[x, first + TREE_KEY]
        if key < low:
            near |= 1 if key > low - margin else 0
            x = row[x, first + TREE_LARGER] - 1
        elif key > high:
            near |= 1 if key < high + margin else 0
            x = row[x, first + TREE_SMALLER] - 1
        else:
            inside = 1
    if inside == 1:
        add_node(row, first, x, time, found, f, at)
        y = row[x, first + TREE_SMALLER] - 1
        while y >= 0:
            key = row_f[y, first + TREE_KEY]
            if key >= low:
                add_node(row, first, y, time, found, f, at)
                add_subtree(row, first, row[y, first + TREE_LARGER], time, found, f, at)
                y = row[y, first + TREE_SMALLER] - 1
            else:
                near |= 1 if key > low - margin else 0
                y = row[y, first + TREE_LARGER] - 1
        y = row[x, first + TREE_LARGER] - 1
        while y >= 0:
            key = row_f[y, first + TREE_KEY]
            if key <= high:
                add_node(row, first, y, time, found, f, at)
                add_subtree(row, first, row[y, first + TREE_SMALLER], time, found, f, at)
                y = row[y, first + TREE_LARGER] - 1
            else:
                near |= 1 if key < high + margin else 0
                y = row[y, first + TREE_SMALLER] - 1
    if near == 1:
        found[f, at + FOUND_NEAR] = 1
