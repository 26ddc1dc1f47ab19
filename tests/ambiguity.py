"""Whether a regular expression can take more than linear time, told from its structure. For tests.

A backtracking matcher takes as many steps as there are ways to read a text. That number grows with the text
where two loops can share it: one in the other (`(a+)+`), one behind the other (`\\s*\\s*x`), or, for a search
that begins anew at every place, a loop that the pattern begins with (`\\s+$`). The pattern is turned into
Glushkov's automaton, a state a character, and searched for such loops: the criteria IDA and EDA of Weber and
Seidl, "On the degree of ambiguity of finite automata" (1991).

Assertions inside a pattern count as true, repetitions of up to `FEW` as few: what is found is possible and
mostly real. What a bounded repetition costs, `.{0,200}` at every place, is for the tests that take the time.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product

try:
    from re import _constants as sre
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as sre
    import sre_parse as parser

FEW = 1000
_COPIES = 3
_NOTHING, _END, _MORE = range(3)
_ANY = "aZ5_ \t\n!-\x00\u00a0éλ日٣\U0001f600"


def _holds(category: object, char: str) -> bool:
    name = str(category).rpartition("_")[2]
    found = {"DIGIT": char.isdecimal(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}[name]
    return found != ("_NOT_" in str(category))


def _in(items: list, char: str) -> bool:
    """Whether a character is in a set as the parser gives it."""
    negated = items[0][0] is sre.NEGATE
    found = any(
        (op is sre.LITERAL and chr(av) == char)
        or (op is sre.RANGE and av[0] <= ord(char) <= av[1])
        or (op is sre.CATEGORY and _holds(av, char))
        for op, av in items
    )
    return found != negated


@dataclass
class _Part:
    """A piece of the automaton: where it begins and ends, and whether it may be empty.

    `first` has the guards (assertions) before each state. `last` has what is still asserted behind each:
    nothing, that the text ends, or more; `checked` the same of a piece that may be empty.
    """

    first: dict[int, tuple] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    empty: bool = True
    checked: int = _NOTHING
    guards: tuple = ()


class Automaton:
    """The states of a pattern, each a set of characters, and what follows what."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        tree = parser.parse(pattern, flags)
        self.flags = tree.state.flags
        self.alphabet = sorted(set(_ANY) | set(self._mentioned(tree)))
        both = self.flags & re.IGNORECASE
        self.cases = {c: {c, c.lower(), c.upper()} if both else {c} for c in self.alphabet}
        self.kinds: dict[str, set[str]] = {}
        for c, cases in self.cases.items():
            for k in cases:
                self.kinds.setdefault(k, set()).add(c)
        self.chars: list[frozenset[str]] = []
        self.sets: dict[str, frozenset[str]] = {}
        self.edges: Counter[tuple[int, int]] = Counter()
        self.groups: dict[int, object] = {}
        whole = self._sequence(tree)
        self.first, self.last = whole.first, whole.last
        self._alike()
        self.next: dict[int, set[int]] = {n: set() for n in range(len(self.chars))}
        for one, other in self.edges:
            self.next[one].add(other)

    def _alike(self) -> None:
        """Keep one character of those that the pattern does not tell apart."""
        sets = [
            *self.chars,
            *(about[1] for guards in self.first.values() for _, *about in guards if about[1:]),
        ]
        kinds = {
            (c == "\n", _holds("WORD", c), *(c in chars for chars in sets)): c
            for c in reversed(self.alphabet)
        }
        self.alphabet = sorted(kinds.values())
        self.chars = [chars.intersection(self.alphabet) for chars in self.chars]

    def _mentioned(self, tree: object) -> Iterator[str]:
        """The characters at the edges of every set, in both cases."""
        for op, av in tree:
            codes = [av] if op in (sre.LITERAL, sre.NOT_LITERAL) else av if op is sre.RANGE else []
            for code in codes:
                for near in (code - 1, code, code + 1) if op is sre.RANGE else (code,):
                    char = chr(min(max(near, 0), sys.maxunicode))
                    yield from (c for c in (char, char.lower(), char.upper()) if len(c) == 1)
            inner = av if op is sre.IN else [part for part in _parts(op, av) for part in part]
            if inner:
                yield from self._mentioned(inner)

    def _state(self, items: list) -> _Part:
        if (known := str(items)) not in self.sets:
            (op, av), *others = items
            single = op is sre.LITERAL and not others
            self.sets[known] = frozenset(
                self.kinds.get(chr(av), ())
                if single
                else (c for c in self.alphabet if any(_in(items, k) for k in self.cases[c]))
            )
        self.chars.append(self.sets[known])
        number = len(self.chars) - 1
        return _Part({number: ()}, {number: _NOTHING}, empty=False)

    def _sequence(self, tree: object) -> _Part:
        whole = _Part()
        for op, av in tree:
            whole = self._joined(whole, self._one(op, av))
        return whole

    def _joined(self, one: _Part, other: _Part) -> _Part:
        self.edges.update(product(one.last, other.first))
        first = dict(one.first)
        if one.empty:
            first |= {n: (*one.guards, *guards) for n, guards in other.first.items()}
        last = dict(other.last)
        if other.empty:
            last |= {n: max(checked, other.checked) for n, checked in one.last.items()}
        empty = one.empty and other.empty
        guards = (*one.guards, *other.guards) if empty else ()
        return _Part(first, last, empty, max(one.checked, other.checked), guards)

    def _either(self, parts: list[_Part]) -> _Part:
        first = {n: guards for part in parts for n, guards in part.first.items()}
        last = {n: checked for part in parts for n, checked in part.last.items()}
        checked = [part.checked for part in parts if part.empty]
        return _Part(first, last, bool(checked), min(checked, default=_NOTHING))

    def _one(self, op: object, av: object) -> _Part:
        if op is sre.LITERAL:
            return self._state([(op, av)])
        if op is sre.NOT_LITERAL:
            return self._state([(sre.NEGATE, None), (sre.LITERAL, av)])
        if op is sre.ANY:
            return self._state([(sre.NEGATE, None), *([] if self.flags & re.S else [(sre.LITERAL, 10)])])
        if op is sre.IN:
            return self._state(av)
        if op is sre.AT:
            if av is sre.AT_BEGINNING and self.flags & re.MULTILINE:
                av = sre.AT_BEGINNING_LINE
            return _Part(checked=_END if av is sre.AT_END_STRING else _MORE, guards=(("at", av),))
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            return self._assertion(op, *av)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self._repeated(*av)
        if op is sre.GROUPREF:
            return self._sequence(self.groups[av])
        if op is sre.SUBPATTERN and av[0]:
            self.groups[av[0]] = av[3]
        parts = [self._sequence(part) for part in _parts(op, av)]
        assert parts, op
        return self._either(parts if op is not sre.GROUPREF_EXISTS or len(parts) > 1 else [*parts, _Part()])

    def _assertion(self, op: object, direction: int, tree: object) -> _Part:
        """Ahead: a way that leads nowhere. Behind: a guard, if it is of one character."""
        if direction > 0:
            inside = self._sequence(tree)
            return _Part(inside.first, {}, checked=_MORE)
        kept, start = self.edges.copy(), len(self.chars)
        inside = self._sequence(tree)
        final = frozenset().union(*(self.chars[n] for n in inside.last))
        single = not any(max(pair) >= start for pair in self.edges - kept)
        self.edges = kept
        del self.chars[start:]
        known = op is sre.ASSERT or single
        return _Part(checked=_MORE, guards=((("behind", op is sre.ASSERT, final),) if known else ()))

    def _repeated(self, least: int, most: int, tree: object) -> _Part:
        """So many copies one behind the other; those that may be missing each inside the one before."""
        endless = most >= FEW
        whole = _Part()
        for n in reversed(range(max(1, min(least, _COPIES)) if endless else min(most, _COPIES))):
            part = self._sequence(tree)
            if endless and not whole.first:
                self.edges.update(product(part.last, part.first))
            whole = self._joined(part, whole)
            if n >= least:
                whole = self._either([whole, _Part()])
        return whole


def _parts(op: object, av: object) -> list:
    """The sequences inside a construct."""
    if op is sre.SUBPATTERN:
        return [av[3]]
    if op is sre.BRANCH:
        return list(av[1])
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        return [av[2]]
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [av[1]]
    if op is sre.GROUPREF_EXISTS:
        return [part for part in av[1:] if part is not None]
    return [av] if str(op) == "ATOMIC_GROUP" else []


def _allowed(guards: tuple, before: str, char: str) -> bool:
    """Whether a match may begin between two characters."""
    for kind, *about in guards:
        if kind == "behind":
            wanted, chars = about
            if (before in chars) != wanted:
                return False
        elif about[0] in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            return False
        elif about[0] is sre.AT_BEGINNING_LINE:
            if before != "\n":
                return False
        elif "BOUNDARY" in str(about[0]):
            differ = _holds("CATEGORY_WORD", before) != _holds("CATEGORY_WORD", char)
            if differ == ("NON_BOUNDARY" in str(about[0])):
                return False
    return True


def _reach(starts: set, after: object) -> set:
    """All that can be reached from `starts`, themselves only by way of a step."""
    seen: set = set()
    todo = list(starts)
    while todo:
        for one in after(todo.pop()):
            if one not in seen:
                seen.add(one)
                todo.append(one)
    return seen


def _returns(ways: list[tuple], after: object) -> bool:
    """Whether steps lead from a start to its end; taken together the pairs tell mostly that none do."""
    if _reach({start for start, _ in ways}, after).isdisjoint({end for _, end in ways}):
        return False
    return any(end in _reach({start}, after) for start, end in ways)


def _word(chars: frozenset[str]) -> str:
    return min(chars, key=lambda c: (not c.isprintable(), unicodedata.category(c), c))


@cache
def faults(pattern: str, flags: int = 0, *, search: bool = True, whole: bool = False) -> list[str]:
    """Why a pattern may take more than linear time; empty if it cannot.

    `search`: it may begin anywhere. `whole`: it must end where the text does (`fullmatch`).
    """
    auto = Automaton(pattern, flags)
    reach = {n: _reach({n}, auto.next.__getitem__) for n in auto.next}
    rings = (frozenset(m for m in reach[n] if n in reach[m]) for n in reach if n in reach[n])
    loops = list(dict.fromkeys(rings))
    found = [
        f"a loop in a loop over {_shown(auto, loop)}"
        for loop in loops
        if any(auto.edges[pair] > 1 for pair in product(loop, loop)) or _twice(auto, loop)
    ]
    for loop in loops:
        if any(_ends(auto, n, whole) for n in loop):
            continue  # once here it has found what it looks for
        found += [
            f"a loop over {_shown(auto, one)} before one over {_shown(auto, loop)}"
            for one in loops
            if one != loop and any(reach[n] & loop for n in one) and _shared(auto, reach, one, loop)
        ]
        if search and _begins(auto, reach, loop):
            found.append(f"a search that begins anew in a loop over {_shown(auto, loop)}")
    return found


def _ends(auto: Automaton, state: int, whole: bool) -> bool:
    """Whether a match that has come to a state is sure to succeed: it may end there, or takes all."""
    asserted = max(auto.last.get(state, _MORE), _END if whole else _NOTHING)
    takes_all = len(auto.chars[state]) == len(auto.alphabet) and auto.edges[state, state]
    return asserted <= (_END if takes_all else _NOTHING)


def _shown(auto: Automaton, loop: frozenset[int]) -> str:
    return repr("".join(_word(auto.chars[n]) for n in sorted(loop)[:12]))


def _pairs(auto: Automaton, pair: tuple[int, int], loop: frozenset[int]) -> Iterator[tuple[int, int]]:
    for one, other in product(auto.next[pair[0]] & loop, auto.next[pair[1]] & loop):
        if auto.chars[one] & auto.chars[other]:
            yield one, other


def _twice(auto: Automaton, loop: frozenset[int]) -> bool:
    """EDA: whether a text leads from a state back to it in two ways."""
    together = _reach({(n, n) for n in loop}, lambda pair: _pairs(auto, pair, loop))
    for n in loop if any(one != other for one, other in together) else ():
        ways = _reach({(n, n)}, lambda pair: _pairs(auto, pair, loop))
        if any(
            one != other and (n, n) in _reach({(one, other)}, lambda p: _pairs(auto, p, loop))
            for one, other in ways
        ):
            return True
    return False


def _shared(auto: Automaton, reach: dict, one: frozenset[int], other: frozenset[int]) -> bool:
    """IDA: whether a text goes round in one loop, in another, and leads from the first to the second."""
    between = {m for n in one for m in reach[n] if m in other or reach[m] & other}

    def steps(state: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
        a, m, b = state
        for a2, m2, b2 in product(auto.next[a] & one, auto.next[m] & between, auto.next[b] & other):
            if auto.chars[a2] & auto.chars[m2] & auto.chars[b2]:
                yield a2, m2, b2

    return _returns([((p, p, q), (p, q, q)) for p in one for q in other], steps)


def _begins(auto: Automaton, reach: dict, loop: frozenset[int]) -> bool:
    """Whether a text goes round in a loop and leads into it from a fresh start: IDA, the search a loop."""
    between = {m for n in auto.first for m in (n, *reach[n]) if m in loop or reach[m] & loop}

    def steps(state: tuple[str, int, int]) -> Iterator[tuple[str, int, int]]:
        before, m, b = state
        for b2 in auto.next[b] & loop:
            for char in auto.chars[b2]:
                if m < 0:
                    yield char, -1, b2
                    entries = (n for n in auto.first if _allowed(auto.first[n], before, char))
                else:
                    entries = auto.next[m]
                for m2 in entries:
                    if m2 in between and char in auto.chars[m2]:
                        yield char, m2, b2

    return _returns([((char, -1, q), (char, q, q)) for q in loop for char in auto.chars[q]], steps)
