"""Questions made by rule: from statements about a person, from first-person turns, from two-turn exchanges.

The rules are simple on purpose: models see many questions, so a wrong inflection costs little.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from smartsearch.training.chats import Labelled
from smartsearch.types import Turn

MACHINE = frozenset(("Assistant", "The", "All", "Both", ""))
"""Speakers without a first name; no question is made about them."""
VAGUE = re.compile(r"\b(?:you|your|this|that|it)\b|n't")
"""A made question with one of these has no meaning outside its place."""
IRREGULAR: dict[str, str] = dict(
    re.findall(
        r"\b(\w+):(\w+)",
        """
        went:go bought:buy got:get had:have made:make took:take saw:see met:meet found:find told:tell
        said:say came:come gave:give left:leave lost:lose won:win ran:run read:read wrote:write
        began:begin felt:feel thought:think heard:hear kept:keep knew:know grew:grow drove:drive
        flew:fly ate:eat drank:drink sold:sell spent:spend taught:teach learnt:learn built:build
        brought:bring caught:catch broke:break chose:choose fell:fall forgot:forget hurt:hurt paid:pay
        put:put quit:quit sang:sing sent:send set:set slept:sleep spoke:speak stood:stand swam:swim
        wore:wear woke:wake led:lead held:hold hit:hit did:do rode:ride
        """,
    )
)
BASE = frozenset(
    re.findall(
        r"\w+",
        """
        believe collect cook dream drive enjoy feel go hate hope keep know like live love make miss need
        own paint plan play prefer read remember run spend study teach think try use volunteer want
        watch wish work write
        """,
    )
)
AUXILIARY = frozenset(("is", "was", "are", "were", "has", "had", "will", "would", "can", "could", "should"))
SILENT_E = tuple(re.findall(r"\w+", "at iz is id ir uc ur us iv ov ag dg ng bl pl tl ar in ic nc rc"))
MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
WHEN = re.compile(
    rf"\s*,?\s*(?:\b(?:on|in|by|since|from|during|until|at)\s+(?:the\s+)?(?:early |late |mid-?)?"
    rf"(?:{MONTH}|(?:19|20)\d\d|(?:last|next) \w+)\b[^,.;]{{0,14}}"
    r"|\b(?:yesterday|today|tomorrow|last (?:week|month|year|night|weekend|summer)|next (?:week|month|year)|"
    r"(?:two|three|a few|several) (?:days|weeks|months|years) ago)\b)"
)
WHY = re.compile(r",?\s+(?:because|due to|in order to|so that)\b.*")
PLACE = re.compile(r"(?:^|\s)(?:in|at|to|from) (?:the )?[A-Z][a-z]+(?: [A-Z][a-z]+)*")
TAIL = re.compile(r"\s(?:for|with|about|during|after|before|on|to|in|from|at)\s(?!be\b)[^,.;]+$")
STATEMENT = re.compile(
    r"^(?P<name>[A-Z]\w+)(?P<adv> (?:also|currently|just|recently|already|really))?"
    r" (?P<verb>[a-z]+) (?P<rest>.+)$"
)
POSSESSED = re.compile(
    r"^(?P<name>[A-Z]\w+)'s (?P<thing>[a-z][\w -]{3,50}?) (?P<be>is|are|was|were|includes?) "
)
FIRST_PERSON = re.compile(
    r"(?:^|(?<=[.!?,;] )|(?<=and )|(?<=but )|(?<=so ))"
    r"(?P<subject>I'm|I’m|I am|I've|I’ve|I'll|I’ll|I'd|I|we|We|We're|We've)"
    r"(?P<adv> (?:also|currently|just|recently|already|really|finally|actually|still|always))?"
    r" (?P<verb>[a-z]+)(?P<rest> [^.!?;\n]{8,110})"
)
CONTRACTED = {"m": "is", "ve": "has", "ll": "will", "d": "would", "re": "is", " am": "is"}
TO_THIRD = (
    (r"\b(?:I'm|I am|I’m)\b", "{name} is"),
    (r"\b(?:I've|I’ve)\b", "{name} has"),
    (r"\bI\b", "{name}"),
    (r"\b[Mm]y\b", "their"),
    (r"\bme\b", "them"),
    (r"\bmine\b", "theirs"),
    (r"\b[Oo]ur\b", "their"),
    (r"\bmyself\b", "themselves"),
    (r"\bwe\b", "they"),
    (r"\bus\b", "them"),
)
AUX_YOU = re.compile(
    r"\b(?P<aux>do|are|have|did|were|can|could|would|will|should|'re|don't|didn't|haven't|aren't)\s+you\b",
    re.IGNORECASE,
)
THIRD = {
    "do": "does",
    "are": "is",
    "have": "has",
    "were": "was",
    "'re": "is",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
}
ASKS = re.compile(r"(?:^|[.!?,;\-] *)((?:and |so |but |well |oh |hey )?[^.!?,;]{6,120}\?)\s*$", re.IGNORECASE)
NOT_ASKED = re.compile(
    r"did you (?:know|hear|see that|catch)|do you know|you know what|have you heard|how are you|"
    r"would you like me|are you ready|are you (?:okay|ok|kidding|serious)|what are you (?:doing|talking)|"
    r"\bI\b|\bwe\b|\bthat\?|\bit\?|\bthis\?|what do you (?:think|mean|say)\?|how about you|do you think so|"
    r"don't you think",
    re.IGNORECASE,
)


TO_FIRST = (
    (r"\bUser's\b", "my"),
    (r"\b([Dd])oes User\b", r"\1o I"),
    (r"\b([Ii])s User\b", r"am I"),
    (r"\b([Hh])as User\b", r"\1ave I"),
    (r"\bUser\b", "I"),
    (r"\btheir\b", "my"),
    (r"\bthem\b", "me"),
)


def lemma(verb: str) -> str:
    """The base form of a past or third-person verb, by rule: `decided` to `decide`, `plans` to `plan`."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb.endswith(("ied", "ies")):
        return verb[:-3] + "y"
    if verb.endswith("eed"):
        return verb[:-1] if verb == "agreed" else verb
    if verb.endswith("ed"):
        stem = verb[:-2]
        if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsze":
            return stem[:-1]
        return stem + "e" if stem.endswith(SILENT_E) and len(stem) > 2 else stem
    if verb.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _split(statement: str) -> tuple[str, str, str, str] | None:
    """(auxiliary, name, verb, rest) of `Name verb rest`; the verb is a base form, or what follows `is`."""
    found = STATEMENT.match(statement)
    if found is None:
        return None
    name, verb, rest = found["name"], found["verb"], found["rest"].rstrip(" .!")
    if verb in AUXILIARY:
        first, _, after = rest.partition(" ")
        return (verb, name, first, after) if after else None
    if verb in IRREGULAR or verb.endswith("ed"):
        return "did", name, lemma(verb), rest
    if verb.endswith("s") and not verb.endswith("ss"):
        return "does", name, lemma(verb), rest
    return None


def from_statement(statement: str, rng: random.Random) -> str:
    """A question that `statement` (`Emma moved to Lyon in May`) answers, or an empty text."""
    owned = POSSESSED.match(statement)
    if owned is not None:
        be = "are" if owned["be"] in ("are", "were") else "is"
        return f"What {be} {owned['name']}'s {owned['thing']}?"
    parts = _split(statement)
    if parts is None:
        return ""
    aux, name, verb, rest = parts
    rest = " ".join(rest.split()[:22])
    when, why, place, tail = WHEN.search(rest), WHY.search(rest), PLACE.search(rest), TAIL.search(rest)
    infinitive = re.match(r"to [a-z]+", rest)
    keep = f" {infinitive.group()}" if infinitive else ""
    choices = []
    if when is not None:
        choices += [
            f"When {aux} {name} {verb} {(rest[: when.start()] + rest[when.end() :]).strip(' ,')}?"
        ] * 3
    if why is not None:
        choices += [f"Why {aux} {name} {verb} {rest[: why.start()]}?"] * 2
    if place is not None:
        choices += [
            f"Where {aux} {name} {verb}{' ' + rest[: place.start()] if rest[: place.start()] else ''}?"
        ] * 2
    if tail is not None and tail.start() > len(keep):
        choices += [f"What {aux} {name} {verb}{keep}{tail.group()}?"] * 2
    if len(rest.split()) <= 14:
        choices.append(f"{aux.capitalize()} {name} {verb} {rest}?")
    if not choices or rng.random() < 0.25:
        choices.append(f"What {aux} {name} {verb}{keep}?")
    return re.sub(r"\s+", " ", rng.choice(choices)).replace(" ?", "?")


def third_person(text: str, name: str) -> str:
    """`text` said by `name`, with I, my and me replaced."""
    for pattern, new in TO_THIRD:
        text = re.sub(pattern, new.format(name=name), text)
    return text


def statements_in(text: str, name: str) -> list[str]:
    """What a turn says about its speaker, as statements in the third person (`Emma moved to ...`)."""
    made = []
    for found in FIRST_PERSON.finditer(text):
        subject, verb, rest = found["subject"], found["verb"], third_person(found["rest"], name)
        ending = re.search(r"(?:['’](m|ve|ll|d|re)| am)$", subject)
        if ending:
            made.append(f"{name} {CONTRACTED[ending.group(1) or ' am']} {verb}{rest}")
        elif verb in AUXILIARY or verb in IRREGULAR or (verb.endswith("ed") and verb not in BASE):
            verb = {"are": "is", "were": "was"}.get(verb, verb)
            made.append(f"{name} {verb}{rest}")
        elif verb == "have":
            made.append(f"{name} has{rest}")
        elif verb in BASE:
            third = "tries" if verb == "try" else verb + ("es" if verb.endswith(("sh", "ch", "o")) else "s")
            made.append(f"{name} {third}{rest}")
    return made


def asked_of(question: str, asker: str, replier: str) -> str:
    """`Do you have any pets?`, put to `replier`, as a third party asks it: `Does Emma have any pets?`."""
    found = AUX_YOU.search(question)
    if found is None or NOT_ASKED.search(question):
        return ""
    aux = found["aux"].lower()
    head, rest = question[: found.start()], question[found.end() :]
    rest = re.sub(r"\byou're\b", "they are", rest)
    rest = re.sub(r"\byourself\b", "themselves", rest)
    rest = re.sub(r"\byours\b", "theirs", rest)
    rest = re.sub(r"\byour\b", "their", rest)
    rest = re.sub(r"\byou\b", "they", rest)
    made = f"{head}{THIRD.get(aux, aux)} {replier}{rest}"
    made = re.sub(r"\byour\b", f"{replier}'s", made, flags=re.IGNORECASE)
    made = re.sub(r"\bmy\b", f"{asker}'s", made)
    made = re.sub(r"\bme\b", asker, made)
    made = re.sub(r"^(?:and|so|but|well|oh|hey|wow)\b[ ,]*", "", made.strip(), flags=re.IGNORECASE)
    made = re.sub(r"(?<!\s)\s+([?.,'])", r"\1", made)
    return made[:1].upper() + made[1:]


def last_question(text: str) -> str:
    """The question that ends a turn, or an empty text."""
    found = ASKS.search(text)
    return found.group(1).strip() if found else ""


def first_person(question: str) -> str:
    """A question about `User` as the user asks it: `What does User plan` becomes `What do I plan`."""
    for pattern, new in TO_FIRST:
        question = re.sub(pattern, new, question)
    return question[:1].upper() + question[1:]


def made_questions(turns: Sequence[Turn], rng: random.Random, share: float) -> list[Labelled]:
    """Rule-made questions of a chat: two-turn exchanges, and first-person statements (a `share` of them)."""
    made: list[Labelled] = []
    for i, turn in enumerate(turns):
        reply = turns[i + 1] if i + 1 < len(turns) else None
        same = reply is not None and reply.session == turn.session and reply.speaker != turn.speaker
        if reply is not None and same and reply.speaker not in MACHINE and len(reply.text.split()) >= 4:
            asked = asked_of(last_question(turn.text), turn.speaker, reply.speaker)
            if len(asked.split()) >= 4:
                made.append(Labelled(asked, (i + 1,), "exchange", context=True))
        for statement in statements_in(turn.text, turn.speaker) if turn.speaker not in MACHINE else ():
            question = from_statement(statement, rng) if rng.random() < share else ""
            if len(question.split()) >= 5 and not VAGUE.search(question):
                made.append(Labelled(question, (i,), "statement", answer=statement))
    return made
