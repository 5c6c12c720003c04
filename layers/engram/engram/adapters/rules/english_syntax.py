"""English sentences: where clauses end, who is spoken of, and what is asked, supposed or reported."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re

_I = re.IGNORECASE

KIN = (
    r"mother|mom|mum|father|dad|parents?|grand(?:mother|father|ma|pa|parents?)|granny|brothers?|sisters?|siblings?|wife|husband|partner|spouse"
    r"|girlfriend|boyfriend|fianc[ée]e?|sons?|daughters?|kids?|child(?:ren)?|baby|twins?|uncle|aunt|cousins?|nephews?|nieces?"
    r"|(?:mother|father|sister|brother|son|daughter)-in-law|roommates?|flatmates?|housemates?|friends?|best friend|buddy|colleagues?|coworkers?|co-workers?"
    r"|boss|manager|teacher|professor|doctor|neighbou?rs?|landlord|ex|ex-\w+|family|team|classmates?|mentor|client"
)
PET_NOUN = r"dogs?|cats?|pupp(?:y|ies)|kittens?|kitty|rabbits?|bunn(?:y|ies)|hamsters?|parrots?|birds?|fish|turtles?|pets?|horses?|guinea pigs?"
OWN = (
    r"(?:full |first |last |real |given |middle )?name|surname|nickname|birthday|birth ?date|date of birth|age|job|profession|occupation|title|position|role"
    r"|hometown|home town|home city|home|native language|mother tongue|first language|hobb(?:y|ies)|favou?rite\b.*|major|degree|nationality|email(?: address)?"
    r"|phone(?: number)?|number|pronouns|diet|employer|company|school|university|allerg(?:y|ies)|gender|goal|dream|(?:[\w'-]+ ){0,2}(?:appointment|exam|interview|flight|trip|wedding|deadline|surgery|presentation|reservation|graduation|check-?up)(?: to [\w ]+?)?(?= is|'s| starts| leaves| was| has| got)"
)
_VERB = (
    r"live|lived|work|worked|am|was|have|had|love|hate|dislike|enjoy|prefer|speak|study|studied|don't|do not|can't|cannot|can|moved|left|quit|joined|started|own|adopted"
    r"|grew|come|go|eat|drink|play|never|no longer|just|also|currently|usually|recently|now work|now live|now call|used|plan|want|need|got|turned|will|used to|really|graduated|teach|run|stopped|gave"
)
_SUBJECT = r"i|i'm|i've|i'd|i'll|my|we|we're|we've|we'll|he|he's|she|she's|they|they're|it|it's|you|you're|your|our|his|her|their|there|everyone|people|this|that|the|please|not"
BREAK = re.compile(
    rf"\s{{0,4}}(?:[;—–]+|(?<!name)(?<!hobbies)(?<!allergies)(?<!email)(?<!birthday)(?<!phone):+)\s{{0,4}}|\s{{1,4}}-+\s{{1,4}}"
    rf"|\s{{0,4}},\s{{0,4}}(?:and |but |so |yet |or )?\s{{0,4}}(?=(?:{_SUBJECT}|{_VERB}|living|working|studying|based|born|originally|allergic|actually|now|right|correct|isn't|aren't|don't|yeah|at|what|how|when|where|which|who|can|could|do|does|is|are|if|because|although|though|while|whereas|since|an?|married|vegan|vegetarian|\d{{1,3}}(?=,|$|\.| years| and))\b)"
    rf"|\s{{1,4}}(?:and|but|so|because|although|though|while|whereas|yet)\s{{1,4}}(?=(?:{_SUBJECT}|{_VERB}|like|allergic|living|working|studying|based|born)\b)"
    rf"|\s{{1,4}}(?=(?:if|because|although|though|whereas)\s)",
    _I,
)
LEAD_IN = re.compile(
    r"(?:well|actually|hi|hey|hello|hi there|hey there|oh|ok|okay|so|also|and|but|yes|yeah|no|nope|by the way|btw|fyi|in fact|to be honest|honestly|just so you know|for the record"
    r"|for your information|you know|sure|thanks|thank you|anyway|turns out|it turns out|good (?:morning|evening|afternoon)|nice to meet you|correction|sorry|wait|hmm+|um+|note|ps|p\.s\.?"
    r"|please (?:remember|note)(?: that)?|remember(?: that)?(?= i\b| i'|\s+my\b)|keep in mind(?: that)?|note that|let me introduce myself|first(?: of all)?|besides|however|plus|then|because|although|though|since(?= i\b)|while|whereas|now(?=,| i\b)|don't forget(?: that)?|i said(?: that)?"
    r"|these days|nowadays|lately|currently(?=,)|as of (?:now|today)|at the moment|i meant(?: to say)?|i mean|i should mention(?: that)?|i want you to know(?: that)?|the thing is|fun fact|about me|unfortunately|luckily|happily|yesterday|today|(?:on |last |this |next )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)(?: (?:morning|afternoon|evening|night))?|(?:last|this|next) (?:week(?:end)?|month|year|night|morning|spring|summer|autumn|fall|winter)|(?:\w+|a few|a couple of) (?:days|weeks|months|years) ago|in (?:19|20)\d\d|recently)"
    r"(?:\s*[,!.:-]+\s*|\s+)",
    _I,
)
_USER = re.compile(r"(?:i|im|ive|i'm|i've|i'd|i'll|me|myself|we|we're|we've|we'll)\b(?!')", _I)
_OWN_ATTRIBUTE = re.compile(rf"(?:my|our) (?:own |current |new )?(?:{OWN})(?=[\s:]|'s|$)", _I)
_KIN = re.compile(
    rf"(?:my|our)\s+(?:(?:older|younger|elder|little|big|best|new|old|late|eldest|youngest|oldest|twin|two|three|ex)[\s-]+)*(?P<kin>{KIN}|{PET_NOUN})\b",
    _I,
)
_ASSISTANT = re.compile(r"(?:you|you're|your|you've)\b", _I)
_PRONOUN = re.compile(
    r"(?:he|she|they|it|he's|she's|they're|it's|his|her|their|its|this|that|these|those|there|everyone|everybody|someone|somebody|people|most|some|many|the|an?|one|another|each|every|my|our|all)\b",
    _I,
)
_SOMEBODY = re.compile(
    r"(?:[A-Z][\w'-]+(?: [A-Z][\w'-]+)?(?:,? and [A-Z][\w'-]+)*) (?:is|are|was|were|has|have|lives?|works?|likes?|loves?|hates?|speaks?|stud(?:y|ies)|owns?|plays?|moved|joined|just|also|will|can)\b"
)
_BARE_ADJECTIVE = re.compile(
    r"(?:(?:severely|very|now|currently|originally|recently|also|not|happily|only|still|no longer|highly|deathly)\s+)*"
    r"(?:allergic to|living in|working (?:as|at|for|in)|studying|learning|based in|born (?:in|on)|vegan|vegetarian|pescatarian|married|divorced|lactose|gluten|at [A-Z]\S*(?: \S+)* (?:since|now)|\d{1,3}(?: years? old)?$|going to|planning to|moving to|flying to|a huge fan of|a big fan of)",
    _I,
)
_BARE_VERB = re.compile(
    rf"(?:(?:also|really|just|usually|currently|recently|never|always|mostly|absolutely|now|still)\s+)*(?:{_VERB}|hate|play|watch|read|collect|cook)\b",
    _I,
)
_BARE_NOUN = re.compile(r"an?\s+[a-z]", _I)

TAG = re.compile(
    r"(?:right|correct|isn't it|aren't i|don't i|am i not|didn't i|yeah|no|eh|ok|is that right|wasn't i)\s*\??", _I
)
OPENS_UNREAL = re.compile(
    r"\b(?:if|suppose|supposing|imagine|pretend|assuming|assume|what if|unless|hypothetically|let's say|say i|role-?play|in case|as if|as though|dream(?:ed|t) (?:of|that)"
    r"|in (?:my|the|a|this) (?:novel|story|game|dream|book|movie|film|play|song)|my character|main character|the character|for a (?:story|novel|movie|role)"
    r"|(?:he|she|they|you|people|someone|my \w+(?: \w+)?|(?-i:[A-Z]\w+)) (?:said|says|say|told|thinks?|thought|believes?|claims?|claimed|wrote|asked|asks|suggested|insists?)"
    r"|do you (?:know|think|remember|believe)|can you tell|tell me (?:if|whether|what|how|why|who|where|when)|i wonder|wondering|i(?:'m| am) not sure|ask(?:ed|ing)? (?:if|whether|me)|guess (?:what|who|where)"
    r"|how (?:do|to|can|would|should)|write (?:me )?an?|translate|in (?:french|german|spanish|chinese|japanese|english)\?)\b",
    _I,
)
UNREAL = re.compile(
    r"\b(?:would|could|might|(?-i:may)(?! \d)|maybe|perhaps|probably|possibly|wish|i'd|should|i hope|hopefully|i guess|i suppose|i think i|i thought|not sure|kidding|joking|jk|lol|haha+|supposedly|apparently|almost|nearly|not true that|false that)\b",
    _I,
)
_AUX = r"do|does|did|is|are|am|was|were|can|could|will|would|should|have|has|had|shall|may|isn't|aren't|don't|doesn't|didn't|won't|can't|wasn't|weren't"
QUESTION = re.compile(
    rf"\?|^(?:{_AUX}) (?:i|you|he|she|it|we|they|there|this|that|these|those|the|my|your|his|her|their|a|an|any|anyone|someone)\b(?! (?:am|have)\b)"
    r"|^(?:what|when|where|who|whom|whose|why|how|which)(?:'s|'re)?\b|^(?:any (?:idea|chance|tips)|what about|how about)",
    _I,
)


def subject_of(clause: str) -> str | None:
    """Who the clause names as its subject: `user`, a relation word, `assistant`, `?`; None if it names nobody."""
    if _USER.match(clause) or _OWN_ATTRIBUTE.match(clause):
        return "user"
    kin = _KIN.match(clause)
    if kin is not None:
        return kin["kin"].lower()
    if _ASSISTANT.match(clause):
        return "assistant"
    if (_PRONOUN.match(clause) and not _BARE_NOUN.match(clause)) or (
        _SOMEBODY.match(clause) and not _BARE_VERB.match(clause)
    ):
        return "?"
    return None


def left_out_subject(clause: str) -> str | None:
    """What to put in front of a clause that begins with its predicate; None if something else stands there."""
    if _BARE_ADJECTIVE.match(clause) or _BARE_NOUN.match(clause):
        return "I'm "
    return "I " if _BARE_VERB.match(clause) else None
