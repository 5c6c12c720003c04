"""What the rules read in English. Each pattern starts at the subject "I" (put in front where it was left out)."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re

from engram.adapters.rules import english_words as words
from engram.adapters.rules.grammar import Grammar, Rule
from engram.adapters.rules.statements import FactKind as Kind

_ADV = r"(?: (?:now|currently|also|actually|really|still|just|only|always|recently|mostly|usually|absolutely|definitely|truly|particularly|especially|quite|very|so|kind of|honestly|originally|already|finally|personally|both|officially|happily|mainly|genuinely|secretly|totally|pretty|much|deeply|rather))*"
_I = rf"(?:i|we|my family and i){_ADV}"
_AM = rf"(?:i(?:'m| am)|we(?:'re| are)|i(?:'ve| have) been){_ADV}"
_AM_NOT = rf"(?:i(?:'m| am) (?:not|no longer)|i ain't|we're not){_ADV}"
_NEVER = rf"(?:i|we) (?:(?:do not|don't|no longer|never|didn't|did not){_ADV}|(?:really|just|simply|also|personally|actually) (?:don't|do not))(?: (?:really|particularly|actually|even|ever|much))*"
_NO_LONGER = rf"(?:i|we)(?:'m| am)? (?:no longer|don't|do not|am not|not){_ADV}"
_X = r"(?P<value>.+?)"
_END = r"[\s.!]*$"


_APOSTROPHE = re.compile(r"'(?=(?:m|ve|t|re|ll)\b)")


def _rule(kind: Kind, pattern: str, content: str = "{value}", **options: object) -> Rule:
    """A rule that reads "im" and "dont" as well: people leave apostrophes out."""
    return Rule(kind, _APOSTROPHE.sub("'?", pattern), content, **options)  # type: ignore[arg-type]


# fmt: off
_WHO = (
    _rule(Kind.NAME, rf"my (?:full |real |first )?name(?:'s| is|:){_ADV} {_X}{_END}", shape=words.name),
    _rule(Kind.NAME, rf"{_AM} (?:called|named) {_X}{_END}", shape=words.name),
    _rule(Kind.NAME, rf"i(?:'m| am) (?P<value>(?-i:[A-Z][a-z]+(?: [A-Z][a-z]+)?)){_END}", shape=words.introduced),
    _rule(Kind.NICKNAME, rf"my nickname is {_X}{_END}", shape=words.name),
    _rule(Kind.AGE, rf"{_AM} (?P<value>\d{{1,3}}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|eighteen|nineteen)(?: years? old| years? of age| y/?o)?(?: now)?{_END}"),
    _rule(Kind.AGE, rf"(?:i(?:'ve)?{_ADV} turned|my age is) (?P<value>\d{{1,3}})\b(?! (?:percent|%|into|of)).*$"),
    _rule(Kind.BIRTHDAY, rf"my (?:birthday|birth ?date|date of birth)(?:'s| is|:)(?: on)? (?P<value>[\w ,./-]*\d[\w ,./-]*?){_END}"),
    _rule(Kind.BIRTHDAY, rf"i was born (?:on|in) (?P<value>[\w ,./-]*\d[\w ,./-]*?)(?: in .*)?{_END}"),
    _rule(Kind.GENDER, rf"{_AM} an? (?P<value>man|woman|male|female|non-binary person)\b{_END}"),
    _rule(Kind.NATIONALITY, rf"{_AM} (?:an? )?(?P<value>{words.NATIONALITY})(?: citizen)?{_END}"),
    _rule(Kind.NATIONALITY, rf"my nationality is {_X}{_END}", shape=words.trimmed),
    _rule(Kind.CONTACT, r"my (?:e-?mail)(?: address)?(?:'s| is|:) (?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    _rule(Kind.PHONE, r"my (?:phone|mobile|cell)?\s?(?:number|phone)(?:'s| is|:) (?P<value>\+?[\d() -]{7,18}\d)"),
    _rule(Kind.MARITAL, rf"{_AM} (?P<value>married|single|divorced|engaged|widowed|separated)(?: to .*| with .*| for .*| again| now)?{_END}"),
    _rule(Kind.MARITAL, rf"{_I} (?:got) (?P<value>married|divorced|engaged)\b(?! when).*$"),
)
_WHERE = (
    _rule(Kind.HOME, rf"(?:{_NEVER}|{_NO_LONGER}) (?:live|living|reside|stay) in {_X}{_END}", holds=False, shape=words.place),
    _rule(Kind.HOME, rf"{_I}(?:'ve| have)?{_ADV} (?:left|moved out of|moved away from) {_X}{_END}", holds=False, shape=words.known_place),
    _rule(Kind.HOME, rf"(?:i|we)(?:'ve| have)?{_ADV} (?:moved|relocated|emigrated)(?: back)?(?: from .+?)? to {_X}{_END}", shape=words.place),
    _rule(Kind.HOME, rf"{_I} (?:live|reside|live together|live alone|settled)(?: with [\w ]+?)? (?:in|near|just outside) {_X}{_END}", shape=words.place),
    _rule(Kind.HOME, rf"{_I} call {_X} home(?: now)?{_END}", shape=words.place),
    _rule(Kind.HOME, rf"{_AM} (?:living|based|residing|located) (?:in|out of) {_X}{_END}", shape=words.place),
    _rule(Kind.HOME, rf"{_AM} an? [\w /-]+? (?:living|based) in {_X}{_END}", shape=words.place),
    _rule(Kind.HOME, rf"(?:i|we)(?:'ve| have) (?:lived|been living|been based) in {_X} (?:for|since) .*$", shape=words.place),
    _rule(Kind.HOME, rf"(?:my|our) (?:home|home city|current city)(?:'s| is)(?: in)? {_X}{_END}", shape=words.place),
    _rule(Kind.ORIGIN, rf"{_AM} (?:originally )?from {_X}{_END}", shape=words.place),
    _rule(Kind.ORIGIN, rf"{_AM} an? [\w -]{{2,30}}? from {_X}{_END}", shape=words.place),
    _rule(Kind.ORIGIN, rf"{_I} (?:grew up|was born|was born and raised|was raised|come|hail) (?:in|from) {_X}{_END}", shape=words.place),
    _rule(Kind.ORIGIN, rf"{_AM} born in {_X}{_END}", shape=words.place),
    _rule(Kind.ORIGIN, rf"my home ?town(?:'s| is) {_X}{_END}", shape=words.place),
)
_WORK = (
    _rule(Kind.EMPLOYER, rf"(?:i|we)(?:'ve| have)?{_ADV} (?:left|quit|resigned from|was laid off from|was fired from|got laid off (?:from|by)|got fired from|parted ways with) {_X}{_END}", holds=False, shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"(?:{_NEVER}|{_NO_LONGER}) (?:work|working) (?:at|for|with) {_X}{_END}", holds=False, shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_AM_NOT} (?:at|with) {_X} (?:anymore|any more|any longer){_END}", holds=False, shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"(?:i|we)(?:'ve| have)?{_ADV} (?:(?:quit|left|resigned from|lost) my job|got laid off|was laid off|got fired|retired){_END}", "", holds=False),
    _rule(Kind.EMPLOYER, rf"(?:i|we)(?:'ve| have)?{_ADV} (?:joined|started (?:working )?(?:at|for|with)|started my (?:new )?job at|moved over to|got hired (?:by|at)|got a (?:new )?job (?:at|with)|transferred to) {_X}{_END}", shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"(?:i|we)(?:'ve| have)?{_ADV} switched to {_X}{_END}", shape=words.organisation, after=Kind.EMPLOYER),
    _rule(Kind.EMPLOYER, rf"{_I} work(?: (?:full|part)[- ]time)?(?: as .+?)? (?:at|for|with) {_X}{_END}", shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_AM} (?:working|employed)(?: as .+?)? (?:at|for|with|by) {_X}{_END}", shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_AM} (?!.*\bstudents?\b)(?:the |an? )?[\w /-]*?\b{words.JOB}(?: now| currently)? (?:at|for|with) {_X}{_END}", shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_AM} (?:now |currently )?(?:at|with) {_X}(?= since\b| as of\b)", shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_AM} (?:now |currently )?(?:at|with) {_X}{_END}", shape=words.organisation, after=Kind.EMPLOYER),
    _rule(Kind.EMPLOYER, rf"my (?:new |current )?(?:employer|company)(?:'s| is) {_X}{_END}", shape=words.organisation),
    _rule(Kind.WORKPLACE, rf"{_I} work in {_X}{_END}", shape=words.known_place),
    _rule(Kind.WORKPLACE, rf"{_I} work (?P<value>remotely|from home){_END}"),
    _rule(Kind.OCCUPATION, rf"{_AM_NOT} an? (?P<value>[\w /-]*?\b{words.JOB})\b.*$", holds=False, shape=words.job),
    _rule(Kind.OCCUPATION, rf"(?:{_AM} (?:working|employed)(?: (?:at|for|with) .+?)? as|{_I} work(?: (?:full|part)[- ]time)?(?: (?:at|for|with) .+?)? as|(?:i|we)(?:'ve| have)?{_ADV} (?:joined|started (?:working )?at|got an? (?:new )?job (?:at|with)|got hired (?:by|at)|moved over to|switched to) .+? as|{_I} became|{_I} (?:was|got) promoted to) (?:an? |the )?{_X}{_END}", shape=words.job),
    _rule(Kind.OCCUPATION, rf"{_AM} (?!.*\bstudents?\b)(?:an? |the )(?P<value>[\w /-]*?\b{words.JOB})(?: now| currently| these days)?(?: (?:at|for|in|with|by|from|who|based|working|living)\b.*)?{_END}", shape=words.occupation),
    _rule(Kind.OCCUPATION, rf"{_NEVER} (?P<value>teach)(?: .*?)? (?:anymore|any more|any longer){_END}", holds=False),
    _rule(Kind.OCCUPATION, rf"my (?:current |new )?(?:job|profession|occupation|job title|title|position|role)(?:'s| is)(?: an?)? {_X}{_END}", shape=words.stated_job),
    _rule(Kind.OCCUPATION, rf"{_I} teach {_X}{_END}", "teaches {value}", shape=words.job),
    _rule(Kind.OCCUPATION, rf"{_I} do {_X} for a living{_END}", shape=words.job),
)
_STUDY = (
    _rule(Kind.SCHOOL, rf"{_I}(?:'m| am)? (?:study|studying|major(?:ing)?|studied)(?: .+?)? at {_X}{_END}", shape=words.organisation),
    _rule(Kind.SCHOOL, rf"{_I} (?:go to|attend|graduated from|enrolled (?:at|in)|got into) {_X}{_END}", shape=words.school),
    _rule(Kind.SCHOOL, rf"{_AM} an? [\w' -]*?student at {_X}{_END}", shape=words.organisation),
    _rule(Kind.MAJOR, rf"{_I} (?:major(?:ed)? in) {_X}(?: at .*)?{_END}", shape=words.trimmed),
    _rule(Kind.MAJOR, rf"{_AM} (?:majoring in) {_X}(?: at .*)?{_END}", shape=words.trimmed),
    _rule(Kind.MAJOR, rf"(?:{_I} (?:study|studied)|i(?:'m| am)(?: currently| now)? studying) (?P<value>(?!to\b|for\b|at\b|in\b|the\b|hard\b|and\b|an?\b|it\b|this\b|my\b|how\b|{words.LANGUAGE}\b)[\w &]+?)(?: at .*)?{_END}", shape=words.trimmed),
    _rule(Kind.MAJOR, rf"my major(?:'s| is) {_X}{_END}", shape=words.trimmed),
    _rule(Kind.DEGREE, rf"{_AM} an? (?P<value>(?:[\w'-]+ ){{0,3}}{words.DEGREE}|(?:[\w'-]+ ){{0,3}}student)\b.*$"),
    _rule(Kind.DEGREE, rf"i have an? (?P<value>(?:phd|master's|bachelor's|mba|doctorate)(?: degree)?(?: in [\w ]+?)?)(?: from .*)?{_END}"),
)
_FAMILY = (
    _rule(Kind.FAMILY, rf"(?:i|we)(?:'ve| have)?(?: got| have)? (?P<value>(?:no|{words.NUMBER})(?: [\w-]+){{0,3}}? {words.RELATION}(?:,? (?:named|called) [\w ,]+?|, (?-i:[A-Z])[\w-]+)?)(?: now)?(?:,? and an?\b.*| and (?:two|three)\b.*| aged? .*)?{_END}", shape=words.trimmed),
    _rule(Kind.FAMILY, rf"(?:{_I} (?:live|moved|relocated|settled)|{_AM} (?:living|based|moving))\b.*? with my (?P<value>(?:wife|husband|partner|fianc[ée]e?|girlfriend|boyfriend|kids|children|sons?|daughters?|parents|family)(?: (?-i:[A-Z])[\w-]+)?(?: and (?:my |our )?{words.NUMBER} (?:kids|children|sons?|daughters?|boys|girls))?)(?: .*)?{_END}", shape=words.trimmed),
    _rule(Kind.FAMILY, rf"my (?!.*?\b{words.ANIMAL}\b)(?P<kin>[\w-]+(?: [\w-]+)?)(?:'s name is| is called| is named) (?P<value>[\w-]+(?: [\w-]+)?)(?: and .*)?{_END}", "{kin}: {value}", about="kin", shape=words.name),
    _rule(Kind.FAMILY, r"my (?P<kin>wife|husband|partner|son|daughter|brother|sister|girlfriend|boyfriend|fianc[ée]e?),? (?P<value>(?-i:[A-Z][a-z]+))\b.*$", "{kin}: {value}", about="kin", shape=words.name),
    _rule(Kind.PET, rf"(?:{_NEVER}) (?:have|own|keep) (?:an?|any|my|the) (?P<value>{words.ANIMAL})(?: anymore| any more| any longer)?{_END}", holds=False),
    _rule(Kind.PET, rf"(?:my|our) (?:\w+ )?(?P<value>{words.ANIMAL})(?:,? (?-i:[A-Z])\w+,?)? (?:has )?(?:died|passed away|was put down|ran away|is dead|is gone).*$", holds=False, about="kin"),
    _rule(
        Kind.PET,
        rf"(?:i|we){_ADV}(?:'ve| have)?(?: also| just| recently)*(?: got| have| own| adopted| rescued| keep| bought) (?:[\w ,-]+? and )?(?P<value>{words.NUMBER}(?: (?!and\b)[\w-]+){{0,4}}? {words.ANIMAL}\b(?:,? (?:named|called) [\w ,]+?|(?:,|:) (?-i:[A-Z])[\w-]+(?:,? (?:and )?(?-i:[A-Z])[\w-]+)*)?)(?: (?:yesterday|last .*|today|from .*|who .*|that .*|now|and i .*)| and an?\b.*)?{_END}",
        shape=words.trimmed,
    ),
    _rule(Kind.PET, rf"(?:my|our|the) (?P<kin>(?:[\w-]+ )?{words.ANIMAL})(?:'s name is| is called| is named|'s called) (?P<value>[\w-]+(?: [\w-]+)?){_END}", "{kin} named {value}", about="kin", shape=words.pet_name),
)
_FAN = rf"{_AM} (?:(?:really |also |a bit )?into|fond of|keen on|crazy about|obsessed with|passionate about|interested in|an? (?:\w+ )?fan of|addicted to)"
_TASTE = (
    _rule(Kind.LIKE, rf"(?:i|we){_ADV} used to (?:really )?(?:like|love|enjoy|adore) {_X}{_END}", "likes {value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DISLIKE, rf"(?:i|we){_ADV} used to (?:really )?(?:hate|dislike|detest) {_X}{_END}", "dislikes {value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"{_I} prefer {_X} (?:to|over|rather than|instead of) .+{_END}", "likes {value}", shape=words.thing),
    _rule(Kind.LIKE, rf"(?:i|we) (?:no longer|stopped|don't|do not){_ADV} (?:like|liking|love|loving|enjoy|enjoying) {_X} (?:anymore|any more|any longer){_END}", "likes {value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"(?:i|we) (?:no longer|stopped){_ADV} (?:like|liking|love|loving|enjoy|enjoying) {_X}{_END}", "likes {value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DISLIKE, rf"(?:i|we) (?:no longer|don't|do not|stopped){_ADV} (?:hate|hating|dislike|disliking|mind) {_X}(?: anymore| any more)?{_END}", "dislikes {value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DISLIKE, rf"(?:{_NEVER} (?:like|enjoy|love|care for)|{_I} (?:hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear)|{_AM_NOT} (?:into|fond of|keen on|an? (?:\w+ )?fan of|interested in)) {_X}{_END}", "dislikes {value}", many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"my (?:all-time )?favou?rite (?P<noun>[\w ]+?)(?:'s| is| are) {_X}{_END}", "favorite {noun}: {value}", many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"my hobb(?:y|ies)(?: is| are| include|:) {_X}{_END}", "likes {value}", many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"(?:{_I} (?:(?:do )?(?:like|love|enjoy|adore|prefer)|came to (?:like|love)|started to (?:like|love|enjoy)|grew to (?:like|love))|(?:i|we)(?:'ve| have){_ADV} (?:come|grown|started|begun|learned) to (?:like|love|enjoy)|{_FAN}) {_X}{_END}", "likes {value}", many=True, shape=words.thing),
)
_BODY = (
    _rule(Kind.ALLERGY, rf"(?:{_AM_NOT}(?: actually)?) allergic to {_X}{_END}", "allergic to {value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"(?:i|we)(?:'ve| have)?{_ADV} outgrew?n? my {_X} allergy{_END}", "allergic to {value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"{_AM}(?: [\w]+ly)? allergic to {_X}{_END}", "allergic to {value}", many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"i(?:'ve| have)?(?: got| have)? (?:an? )?(?:severe |bad |mild |serious )?(?P<value>[\w ]+?) allerg(?:y|ies){_END}", "allergic to {value}", many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"my allerg(?:y|ies)(?: is| are| include|:)(?: to)? {_X}{_END}", "allergic to {value}", many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"i have an? (?:severe |bad |mild |serious )?allergy to {_X}{_END}", "allergic to {value}", many=True, shape=words.thing),
    _rule(Kind.DIET, rf"(?:i|we)(?:'ve| have)?{_ADV} (?:started|begun|began|gone back to) (?:eating|drinking|to eat|to drink) {_X}(?: again)?{_END}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DIET, rf"{_I} (?:can )?(?:eat|drink) {_X} (?:again|now){_END}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DIET, rf"{_AM_NOT} (?:an? )?(?P<value>vegan|vegetarian|pescatarian|on keto)\b.*$", holds=False),
    _rule(Kind.DIET, rf"{_AM} (?:an? )?(?:strict |lifelong )?(?P<value>vegan|vegetarian|pescatarian|coeliac|celiac|lactose[- ]intolerant|gluten[- ]intolerant|gluten[- ]free|on (?:a )?(?:keto|low[- ]carb|halal|kosher)(?: diet)?)\b.*$"),
    _rule(Kind.DIET, rf"{_I} (?:became|went|turned) (?P<value>vegan|vegetarian|pescatarian)\b.*$"),
    _rule(Kind.DIET, rf"{_I} (?:only )?eat (?P<value>halal|kosher|vegan|vegetarian|gluten[- ]free|low[- ]carb|plant[- ]based)(?: food| only)?{_END}"),
    _rule(Kind.DIET, rf"(?:{_NEVER}|{_I} (?:can't|cannot|can not|must not)) (?P<verb>eat|drink) {_X}{_END}", "doesn't {verb} {value}", many=True, shape=words.eaten),
    _rule(Kind.DIET, rf"(?:i|we)(?:'ve| have)?{_ADV} (?:stopped|quit|given up|gave up) (?P<verb>eating|drinking) {_X}{_END}", "stopped {verb} {value}", many=True, shape=words.eaten),
    _rule(
        Kind.HEALTH,
        r"(?:i have|i've got|i was diagnosed with|i suffer from|i live with) (?P<value>(?:type [12] |mild |chronic |severe )?(?:diabetes|asthma|hypertension|high blood pressure|migraines?|insomnia|anxiety|depression|arthritis|epilepsy|anemia|anaemia|adhd|celiac disease|ibs|eczema|hypothyroidism|a heart condition))\b.*$",
    ),
    _rule(Kind.HEALTH, rf"{_AM} (?:an? )?(?P<value>diabetic|asthmatic|colou?r[- ]?blind|pregnant|dyslexic)\b.*$"),
    _rule(Kind.LANGUAGE, rf"my (?:native|first) language is (?P<value>{words.LANGUAGE})\b.*$|my mother tongue is (?P<other>{words.LANGUAGE})", "{value} (native)"),
    _rule(Kind.LANGUAGE, rf"{_NEVER} speak (?:any )?(?P<value>{words.LANGUAGE})\b.*$", holds=False),
    _rule(Kind.LANGUAGE, rf"(?:{_I} (?:can )?(?:speak)|{_AM} (?:fluent|bilingual|native) in)(?: fluent| some| a little| a bit of| basic| both)* (?P<value>{words.LANGUAGE}(?:(?:, and |, | and |/)(?:a little |some |a bit of |basic |fluent )?{words.LANGUAGE})*)(?: fluently| natively| well| at home| a bit| a little)?{_END}", many=True, shape=words.tongue),
    _rule(Kind.LANGUAGE, rf"(?:{_AM}|{_I}) (?:learning|studying|learn|study|started learning|started studying) (?P<value>{words.LANGUAGE})\b.*$", "{value} (learning)"),
)
GRAMMAR = Grammar((*_WHO, *_WHERE, *_WORK, *_STUDY, *_FAMILY, *_TASTE, *_BODY), re.compile(r",?\s+and\s+|\s*,\s*(?:and\s+)?|\s+or\s+|\s*&\s*|\s*/\s*", re.IGNORECASE), re.compile(r",?\s+(?:especially|such as|including|particularly|mainly|for example|e\.g\.|like|as (?:these|they|it|well)|now and then|so (?:i|we|it|that)|which|who|where)\b", re.IGNORECASE), re.compile(r"(?:^|,?\s+)(?:and |but |rather than |instead of )?(?:not|rather than|instead of) (?!only\b|just\b|to\b|so\b|too\b|really\b|an?\b|the\b|my\b|that\b|being\b|sure\b|in\b|at\b|from\b)(?P<no>[\w' -]{2,40})$", re.IGNORECASE))
# fmt: on
