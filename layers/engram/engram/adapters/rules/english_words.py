"""English word lists that the rules choose by: occupations, animals, places, and what a value may not be."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re

_I = re.IGNORECASE
NUMBER = r"(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|several)"
JOB = (
    r"(?:engineer|developer|programmer|architect|designer|teacher|professor|lecturer|tutor|instructor|coach|doctor|physician|surgeon|nurse|dentist|pharmacist|vet|veterinarian|paramedic|midwife|therapist|lawyer|attorney|solicitor"
    r"|barrister|judge|paralegal|accountant|auditor|actuary|banker|trader|broker|economist|analyst|consultant|manager|director|executive|administrator|assistant|secretary|receptionist|clerk|officer|supervisor|coordinator|recruiter|planner"
    r"|marketer|salesperson|salesman|saleswoman|cashier|barista|bartender|waiter|waitress|chef|cook|baker|butcher|farmer|gardener|carpenter|electrician|plumber|mechanic|welder|builder|roofer|painter|mason|driver|pilot|captain|sailor|steward|stewardess"
    r"|flight attendant|firefighter|policeman|policewoman|detective|soldier|guard|postman|courier|librarian|archivist|curator|historian|writer|author|editor|journalist|reporter|blogger|copywriter|translator|interpreter|photographer|filmmaker"
    r"|producer|actor|actress|singer|musician|composer|dancer|choreographer|artist|illustrator|animator|sculptor|potter|tailor|hairdresser|barber|beautician|plumber|scientist|researcher|mathematician|statistician|physicist|chemist|biologist|geologist"
    r"|astronomer|psychologist|psychiatrist|sociologist|philosopher|ecologist|botanist|zoologist|archaeologist|anthropologist|linguist|entrepreneur|founder|freelancer|contractor|landlord|shopkeeper|florist|jeweller|jeweler|optician|radiologist|cardiologist"
    r"|tester|administrator|sysadmin|technician|operator|machinist|inspector|surveyor|realtor|estate agent|travel agent|agent|social worker|caregiver|nanny|cleaner|janitor|housewife|homemaker|stay-at-home (?:mom|mum|dad|parent)|pastor|priest|monk|imam|rabbi"
    r"|student|intern|apprentice|trainee|postdoc|ceo|cto|cfo|coo|vp|data scientist|product owner|scrum master|devops|sre|dba|paralegal|streamer|youtuber|athlete|footballer|boxer|lifeguard|beekeeper|brewer|winemaker|sommelier|fisherman|lumberjack|miner)s?"
)
DEGREE = r"(?:freshman|sophomore|(?:junior|senior)(?=[\s.!]*$| (?:at|in) )|first-year student|undergrad(?:uate)?|grad(?:uate)? student|master's student|phd student|phd candidate|doctoral student|high school(?:er| student)|college student|university student|exchange student|medical student|law student)"
ANIMAL = (
    r"(?:dog|cat|puppy|kitten|puppies|rabbit|bunny|hamster|parrot|bird|budgie|canary|cockatiel|goldfish|fish|turtle|tortoise|snake|lizard|gecko|horse|pony|ferret|guinea pig|hedgehog|chicken|duck|goat|corgi|labrador|lab|golden retriever|retriever|poodle|husky|beagle"
    r"|dachshund|shiba(?: inu)?|border collie|collie|german shepherd|shepherd|terrier|bulldog|pug|chihuahua|siamese|tabby|maine coon|ragdoll|pet)s?"
)
RELATION = r"(?:kids?|child(?:ren)?|sons?|daughters?|brothers?|sisters?|siblings?|twins?|twin (?:boys|girls|sons|daughters|sister|brother)|grandchild(?:ren)?|grandsons?|granddaughters?|stepsons?|stepdaughters?|baby (?:boy|girl)|bab(?:y|ies)|wife|husband|girlfriend|boyfriend|partner|fianc[ée]e?|nephews?|nieces?)"
LANGUAGE = (
    r"(?:english|mandarin|chinese|cantonese|japanese|korean|french|german|spanish|portuguese|italian|russian|arabic|hindi|urdu|bengali|punjabi|tamil|telugu|thai|vietnamese|indonesian|malay|tagalog|filipino|dutch|swedish|norwegian|danish|finnish|icelandic|polish|czech"
    r"|slovak|hungarian|romanian|bulgarian|serbian|croatian|greek|turkish|hebrew|persian|farsi|ukrainian|swahili|latin|esperanto|catalan|basque|welsh|irish|gaelic|sign language|asl|hokkien|hakka|shanghainese|nepali|mongolian|tibetan|uyghur|kazakh)"
)
NATIONALITY = (
    r"(?:american|british|english|scottish|welsh|irish|canadian|australian|chinese|japanese|korean|french|german|spanish|portuguese|italian|russian|indian|pakistani|thai|vietnamese|indonesian|malaysian|filipino|dutch|swedish|norwegian|danish|finnish|polish|czech|hungarian|romanian"
    r"|greek|turkish|israeli|iranian|ukrainian|brazilian|mexican|argentinian|chilean|colombian|peruvian|egyptian|nigerian|kenyan|south african|singaporean|taiwanese|swiss|austrian|belgian)"
)
FOOD = re.compile(
    r"\b(?:eat|drink|food|cuisine|dish|meat|beef|pork|lamb|chicken|fish|seafood|shellfish|shrimp|prawn|crab|lobster|sushi|sashimi|ramen|noodles?|pasta|pizza|burger|fries|rice|bread|cake|cookies?|chocolate|ice cream|candy|dessert|sweets|spicy|coffee|espresso|latte|tea|matcha|beer|wine|whisky|juice|soda|milk|cheese|yogh?urt|eggs?|tofu|beans?|nuts?"
    r"|peanuts?|hazelnuts?|almonds?|fruit|durian|mango|apples?|bananas?|grapes?|strawberr\w+|oranges?|watermelon|vegetables?|broccoli|carrots?|tomato\w*|potato\w*|mushrooms?|onions?|garlic|cilantro|coriander|celery|spinach|olives?|pickles?|soup|curry|salad|steak|bacon|hot ?pot|dumplings?|bbq|barbecue|tacos?|kimchi|licorice|liver|anchov\w+|mayo\w*|ketchup|eggplant|aubergine|zucchini|avocado)s?\b",
    _I,
)
PLACES = frozenset(
    "tokyo osaka kyoto yokohama nagoya sapporo fukuoka seoul busan beijing shanghai guangzhou shenzhen hangzhou suzhou nanjing chengdu chongqing wuhan xi'an tianjin taipei kaohsiung hong kong macau singapore bangkok hanoi jakarta manila mumbai delhi bangalore "
    "london manchester edinburgh glasgow dublin paris lyon berlin munich hamburg frankfurt cologne vienna zurich geneva rome milan madrid barcelona lisbon porto amsterdam rotterdam brussels copenhagen stockholm oslo helsinki warsaw prague budapest athens istanbul moscow kyiv dubai cairo nairobi lagos "
    "sydney melbourne brisbane perth auckland wellington toronto vancouver montreal ottawa boston seattle chicago austin dallas houston denver portland oakland brooklyn manhattan philadelphia atlanta miami phoenix detroit "
    "japan china korea taiwan india thailand vietnam indonesia malaysia france germany spain italy portugal england scotland wales ireland britain uk usa us america canada mexico brazil argentina chile peru australia switzerland austria belgium netherlands sweden norway denmark finland poland russia ukraine turkey egypt kenya nigeria "
    "california texas florida york london".split()
)
_PLACE_TAIL = re.compile(
    r"(?:\s+|^)(?:originally|now|currently|at the moment|right now|these days|nowadays|anymore|any more|any longer|again|too|as well|since\b.*|for\b.*|with\b.*|and\b.*|but\b.*|because\b.*|where\b.*|which\b.*|until\b.*|while\b.*|when\b.*|as (?:a|an)\b.*"
    r"|(?:last|this|next|a few|two|three|\d+) (?:year|month|week|spring|summer|autumn|fall|winter|years|months|weeks)s?\b.*|in (?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4})\b.*|yesterday|recently|permanently|full[- ]time|on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b.*|today)$",
    _I,
)
_VALUE_TAIL = re.compile(
    r"\s+(?:a lot|very much|so much|too much|the most|most of all|now|these days|nowadays|though|too|as well|anymore|any more|any longer|again|lately|recently|already|either|at all|more than\b.*|because\b.*|but\b.*|since\b.*|when\b.*|whenever\b.*|if\b.*|which\b.*|who\b.*|while\b.*|so\b.*|even\b.*|than\b.*|instead\b.*|after all|best|more|every (?:day|morning|night|week|weekend|year)|to be honest|for (?:breakfast|lunch|dinner))$",
    _I,
)
_REFUSED_THING = re.compile(
    r"(?:believe it|or not|it|that|this|these|those|you|your|him|her|his|hers|them|their|me|my|myself|us|our|he|she|they|we|i|how|what|when|where|who|why|to know|to see (?:if|whether)|to ask|to think|the (?:idea|way|fact|sound|look|answer|suggestion|plan|first|second|last|one|ones|option|thought|result)|one\b|some\b|any\b|nothing|something|everything|anything|none|all|so much|not|being asked|if|about|before|after|last|option|as|then|to be|having to|(?:\w+ )?(?:answers?|replies|responses?|explanations?)$|the (?!(?:beach|sea|outdoors|mountains|cello|piano|guitar|violin|drums|gym|theat(?:re|er)|cinema|countryside|ocean|rain|snow|cold|heat|city|(?-i:[A-Z]))\w*)\w+)\b",
    _I,
)
_REFUSED_NAME = re.compile(
    r"(?:sorry|fine|good|ok|okay|happy|sad|tired|sure|back|here|there|not|just|so|very|really|new|from|in|at|on|going|trying|looking|thinking|planning|working|living|a|an|the|your|my|interested|afraid|glad|done|ready|late|early|home|sick|well|busy|free|single|married|vegan|vegetarian|allergic|curious|confused|stuck|also|now|currently|still|about|christian|muslim|jewish|buddhist|hindu|catholic|atheist|gay|straight|bi)\b",
    _I,
)


def is_place(value: str) -> bool:
    return value.lower().removeprefix("the ") in PLACES or value.lower().split(",")[0].strip() in PLACES


def place(value: str) -> str:
    """A place name: capitalised or known; "" for "a new flat", "the office"."""
    value = value.strip(" .,!")
    for _ in range(3):
        value = _PLACE_TAIL.sub("", value).strip(" ,")
    if not 1 < len(value) <= 50 or re.match(
        r"(?:a|an|my|our|this|that|his|her|their|your|one|here|there)\b", value, _I
    ):
        return ""
    if is_place(value):
        return value
    bare = re.sub(
        r"^(?:the|downtown|central|northern|southern|eastern|western|north|south|east|west|upstate|near)\s+",
        "",
        value,
        flags=_I,
    )
    return value if bare[:1].isupper() and len(value.split()) <= 6 else ""


def trimmed(value: str) -> str:
    """A value without the adverbs and clauses that hang on it."""
    value = value.strip(' .,!"“”')
    for _ in range(3):
        value = _VALUE_TAIL.sub("", value).strip(" ,")
    return value


def thing(value: str) -> str:
    """What is liked, disliked or avoided; "" for pronouns, people and whole clauses."""
    value = re.sub(r"^(?:(?:eating|drinking)\s+|(?:some|any)\s+(?=\w+$)|both\s+|also\s+)", "", trimmed(value), flags=_I)
    if not 1 < len(value) <= 60 or len(value.split()) > 8 or _REFUSED_THING.match(value):
        return ""
    return value


_NOT_EATEN = re.compile(
    r"(?:right|now|another|and|much|more|lunch|breakfast|dinner|supper|alone|out|at|late|early|well|enough|there|here|today|tonight|yet|like|in|on|with|without|while|unless|properly|fast|slow(?:ly)?|until|till|solid|from|for)\b",
    _I,
)


def eaten(value: str) -> str:
    """What is not eaten or drunk; "" for when, where and how much."""
    return "" if _NOT_EATEN.match(value.strip()) else thing(value)


def name(value: str) -> str:
    """A personal name: capitalised words that are no adjective or adverb."""
    value = re.split(
        r"\s+(?:and|but|from|by|please|now|because|instead|not)\b|[,!]|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)\.",
        value.strip(" \"“”'"),
    )[0].strip(" \"“”'")
    words = value.split()
    if not 0 < len(words) <= 4 or _REFUSED_NAME.match(value) or not all(word[:1].isupper() for word in words):
        return ""
    return value


def job(value: str) -> str:
    """An occupation without its place, employer and time."""
    value = re.split(
        r"\s+(?:at|for|in|with|by|from|and i|who|that|but|since|because|based|working|of (?:two|three|\d))\b",
        trimmed(value),
        maxsplit=1,
        flags=_I,
    )[0]
    value = re.sub(r"^(?:an?|the|full-time|part-time)\s+", "", value, flags=_I)
    return value if 1 < len(value) <= 50 and len(value.split()) <= 6 else ""


def organisation(value: str) -> str:
    """An employer or a school: a capitalised name; "" for places and for words that name none."""
    value = re.sub(
        r"^(?:a|an|the)?\s*(?:company|startup|start-up|firm|place|school)\s+(?:called|named)\s+",
        "",
        value.strip(" .,!"),
        flags=_I,
    )
    for _ in range(3):
        value = _PLACE_TAIL.sub("", _VALUE_TAIL.sub("", value)).strip(" ,")
    value = re.split(r"\s+(?:as (?:a|an|the)|as\b|in\b|and\b|to\b)", value)[0]
    head = re.sub(r"^the\s+", "", value, flags=_I)
    if (
        not 1 < len(value) <= 50
        or is_place(value)
        or not (head[:1].isupper() or any(letter.isupper() for letter in head))
    ):
        return ""
    return (
        ""
        if re.match(r"(?:I|My|This|That|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b", head)
        else value
    )


def food(value: str) -> bool:
    return FOOD.search(value) is not None


def introduced(value: str) -> str:
    """ "I'm Anna": a name, unless it is a nationality, a place or a language."""
    refused = is_place(value) or re.fullmatch(rf"{NATIONALITY}|{LANGUAGE}", value, _I)
    return "" if refused else name(value)


def known_place(value: str) -> str:
    """A place that can be told from an employer."""
    found = place(value)
    return found if is_place(found) else ""


def school(value: str) -> str:
    found = organisation(value)
    return (
        found
        if re.search(r"universit|college|school|institute|academy|^[A-Z]{2,5}$|poly|state|tech", found, _I)
        else ""
    )


def occupation(value: str) -> str:
    """An occupation, unless it says what the speaker likes to do in spare time ("a huge coffee drinker")."""
    return (
        ""
        if re.match(r"(?:big|huge|good|bad|terrible|great|new|first-time|fast|slow|picky)\b", value, _I)
        else job(value)
    )


def pet_name(value: str) -> str:
    return name(value)


def tongue(value: str) -> str:
    """A language without how well it is spoken."""
    return re.sub(r"^(?:a little|a bit of|some|basic|fluent)\s+", "", value.strip(), flags=_I)


def stated_job(value: str) -> str:
    """ "My job is …": an occupation or an activity, not what the job is like."""
    found = job(value)
    return found if re.search(rf"\b{JOB}\b", found, _I) or re.match(r"\w+ing\s+\w", found) else ""
