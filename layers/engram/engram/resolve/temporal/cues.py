"""Words that say when without naming a range: 上次, just now, the first time, lately, every time.

One row a sense: a pattern over the folded text whose group `cue` is the words themselves, in a setting that makes them
speak of past talk. 上次 across two words, `last name` and `first aid` are the near misses that the settings keep out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from engram.resolve.models import TemporalIntent
from engram.text.segment import on_borders

CUE_SCORE = -9.5
_SAY = r"(?:聊|说|讲|提|谈|讨论|问|告诉|推荐|商量|介绍|分享|记|交代|建议|发|写|给|列|整理|做|改|定|教|分析|帮|叫|跟|和|约|答应|查|找|安利|总结|规划|对比|吐槽|敲定|算|看|选|配|试|画|设计|安排|制定|翻译|讲解|解释)"
_TALK = r"(?:聊|说|讲|提|谈|讨论|问|告诉|推荐|商量|介绍|分享|交代|建议|记录|吐槽|安利|咨询|对话|沟通)"
_SELF = r"(?:你|我们|咱们|咱俩|咱|我|您)"
_TOLD = r"(?:聊|说|讲|提|谈|讨论|问|推荐|商量|介绍|分享|给|发|列|写|整理|做|改|定|教|分析|查|找|安利|总结|规划|记|建议|答应|敲定|选|设计|安排|制定|解释|告诉|交代|约)"

_E_TALK = r"(?:talk(?:ed|ing)?|discuss(?:ed|ing)?|chat(?:ted|ting)?|sp(?:oke|oken|eak)|mention(?:ed|ing)?|sa(?:id|y)|t(?:old|ell)|ask(?:ed|ing)?|brought up|bring up|recommend(?:ed)?|suggest(?:ed)?|cover(?:ed)?|go over|went over|work(?:ed|ing)? on|met|meet|convers\w+|cover)"
_E_DID = r"(?:said|told|mentioned|asked|gave|wrote|made|sent|shared|explained|showed|listed|described|recommended|suggested|proposed|drafted|created|outlined|sketched|planned|came up with|put together|set up|picked|chose|promised|advised|taught|summarized|summarised|translated|brought up|talked about|talked|went over|discussed|agreed on|agreed|decided on|decided|settled on|settled|worked on|worked out|chatted about|spoke about|built|designed|fixed|figured out|wanted|needed|had|logged|noted|recorded|complained about|raved about)"

_ROWS: tuple[tuple[TemporalIntent, str], ...] = (
    # what stands above in this conversation
    (TemporalIntent.CURRENT_SESSION, rf"(?P<cue>刚才|刚刚|方才)(?!好|到|过)(?:的|{_SELF}|那|这|{_SAY}|提|第|上)?"),
    (TemporalIntent.CURRENT_SESSION, rf"(?:{_SELF}|把)(?P<cue>刚)(?={_SAY})"),
    (TemporalIntent.CURRENT_SESSION, r"(?:^|[，。,.!?！？ ]|你|把|将|按|按照|用|根据|对|和|跟|像|我|关于)(?P<cue>上面)(?=的|那|这|说|提|列|第|几|代码|内容|回答|方案|写|给|讲|聊|\d|这些|所说|发|三|两)"),
    (TemporalIntent.CURRENT_SESSION, r"(?P<cue>上述|上文|前文|以上(?:内容|这些|几点|回答|方案|步骤|建议|信息|提到|说的|所说|的(?:内容|方案|建议|回答|代码|步骤)))"),
    (TemporalIntent.CURRENT_SESSION, rf"(?:^|你|我|我们|咱们|把|[，。, ])(?P<cue>前面)(?={_TOLD}|提到|那(?:个|段|条|份|几)|的(?:回答|内容|代码|问题|方案|建议)|第)"),
    (TemporalIntent.CURRENT_SESSION, r"(?P<cue>这段|那段(?=代码|话|文字))(?=$|[，。,.!?！？ ]|话|代码|文字|翻译|内容|改|里|有|怎么|再|缩|润|文|能|用|写)"),
    (TemporalIntent.CURRENT_SESSION, r"(?P<cue>(?:本次|这次|这轮|当前|此次|本轮|这个|这场|现在这个)(?:的)?(?:对话|会话|聊天|谈话))"),
    (TemporalIntent.CURRENT_SESSION, r"(?P<cue>上(?:一)?(?:条|句|段|个回答|个问题|个答案)|(?:你的)?上一个(?:回答|问题|答案|方案))(?!新闻)"),
    (TemporalIntent.CURRENT_SESSION, r"(?P<cue>再(?:说|讲|来|发|给|写|解释)(?:我)?一(?:遍|次))(?=$|[吧。!！?？ ])"),
    (TemporalIntent.CURRENT_SESSION, r"(?P<cue>接着(?:说|讲|写|聊)|继续(?:说|讲|写)(?=$|[吧。!！]|下去))"),
    (TemporalIntent.CURRENT_SESSION, r"\b(?P<cue>just now|a (?:minute|moment|second|sec|little bit|few (?:minutes|moments|seconds)) ago|moments ago|\d+ minutes? ago|(?:a couple of|two|three|four|five|ten) minutes ago)\b"),
    (TemporalIntent.CURRENT_SESSION, rf"\b(?:you|i|we|you've|we've|i've)(?: have)? (?P<cue>just) {_E_DID}\b|\b(?:did|have|has) (?:you|i|we) (?P<cue2>just)\b"),
    (TemporalIntent.CURRENT_SESSION, r"\b(?P<cue>(?:so far |earlier |later |previously )?in (?:this|our current|the current) (?:chat|conversation|session|thread|discussion)|this (?:conversation|chat session|chat|thread)(?! (?:app|room|window|group|bot))|so far today in here)\b"),
    (TemporalIntent.CURRENT_SESSION, r"\b(?:the|as|code|table|list|text|steps?|snippet|example|paragraph|message|you|i|from|said|mentioned|listed|described|all|your \w+|options?|answers?|ideas?|plans?) (?P<cue>above)(?! (?:average|all|and beyond|zero|ground|sea|board|the|par|my|normal|\d))\b|^(?P<cue2>above)(?= )|\bthe (?P<cue3>above)(?= (?:code|text|list|table|answer|example|steps?|options?|message|paragraph|snippet|plan))"),
    (TemporalIntent.CURRENT_SESSION, r"\b(?P<cue>your (?:last|previous|latest) (?:message|answer|reply|response|point|suggestion|sentence|paragraph|output)|the (?:last|previous) (?:message|answer|reply|response|paragraph|sentence|thing you (?:said|wrote|told)))\b"),
    (TemporalIntent.CURRENT_SESSION, r"\b(?P<cue>(?:give me|say|send me|show me|tell me|repeat|do|explain|write|read|run) (?:that|this|it)(?: (?:again|once more|one more time)| back)|come again|repeat (?:that|this|it|yourself))\b"),
    # everything there is
    (TemporalIntent.ALL_HISTORY, rf"(?P<cue>所有|全部|一切|历次|历史上|每一次|每次|每回|一共|总共)(?:的)?(?:[^，。,.]{{0,8}})?(?:{_TALK})(?:过|到|的|了|论)"),
    (TemporalIntent.ALL_HISTORY, rf"(?:{_TALK}|记)过(?:的)?(?:[^，。,.]{{0,6}})?(?P<cue>所有|全部|每一?[个本次条家部首])"),
    (TemporalIntent.ALL_HISTORY, r"(?P<cue>所有|全部|完整|历史|历来)(?:的)?(?:[^，。,.]{0,6})?(?:聊天|对话|会话|历史|谈话|交流)?(?:记录|对话|聊天|历史|会话)(?!部|课|老师|博物馆|学)"),
    (TemporalIntent.ALL_HISTORY, r"(?:我|我们|咱们)(?:的)?(?P<cue>所有|全部)(?:的)?(?=[\u4e00-\u9fff])(?!人|东西|家当)|(?:我|我们)(?P<cue2>所有的|全部的)"),
    (TemporalIntent.ALL_HISTORY, rf"(?P<cue>一直以来|从来|向来|有史以来|这么久以来|至今|迄今)(?:[^，。,.]{{0,6}})?(?:{_TALK})"),
    (TemporalIntent.ALL_HISTORY, rf"(?:{_TALK}|记)(?:过|的)?(?P<cue>几次|多少次|多少回|几回)"),
    (TemporalIntent.ALL_HISTORY, rf"(?:总共|一共|都)(?:跟你|和你)?(?P<cue>{_TALK}过)(?:哪些|什么|几|多少)"),
    (TemporalIntent.ALL_HISTORY, rf"\b(?P<cue>everything|every time|each time|every single time|all the times|all (?:the )?(?:things|stuff)|anything and everything)(?: that| which)? ?(?:i|we|you)\b(?:'ve|'d| have| had)?(?: ever| already)? ?(?={_E_TALK}|{_E_DID}|know|remember|have)"),
    (TemporalIntent.ALL_HISTORY, r"\b(?P<cue>everything)(?: that)? (?:you know|we know|you have|you've got|you remember|about me|on (?:file|record)|so far)\b|\b(?P<cue2>everything) about (?:me|us|my)\b"),
    (TemporalIntent.ALL_HISTORY, rf"\b(?:all|every|each|list|any|how (?:many|often)|how many times|have|did|everyone|times)\b[^.?!]{{0,40}}?\b(?:i|we|you)(?:'ve|'d| have| had| has)?,? (?P<cue>ever) {_E_TALK}\w*"),
    (TemporalIntent.ALL_HISTORY, rf"\b(?P<cue>every|each|all)(?: of)?(?: the| my| our| your| these| those)? (?!day|week|month|year|morning|night|one of)[a-z' -]{{2,30}}? (?:that |which )?(?:i|we|you)(?:'ve|'d| have| had)?(?: ever)? {_E_DID}\b"),
    (TemporalIntent.ALL_HISTORY, r"\b(?P<cue>all|every one)(?: of)? (?:our|my) (?:past |previous |old |earlier |saved )?(?:chats?|conversations?|talks|discussions?|messages|sessions?|[a-z]+ (?:notes|chats|conversations|recipes|plans|lists)|notes|recipes|books|ideas|trips|preferences|allergies|goals|pets)\b"),
    (TemporalIntent.ALL_HISTORY, r"\b(?P<cue>(?:entire|whole|full|complete|all(?: of)?(?: the| our)?|our) (?:chat |conversation |message )?(?:history|histories))(?! of| book| class| exam| lesson)\b"),
    (TemporalIntent.ALL_HISTORY, rf"\bhow (?P<cue>many times|often) (?:have|did) (?:i|we|you)(?: ever)? {_E_TALK}"),
    (TemporalIntent.ALL_HISTORY, rf"(?P<cue>从头到尾|自始至终|从始至终)(?=[^。.]{{0,24}}(?:{_TALK}|对话|聊天|记录|内容))"),
    # the newest of several
    (TemporalIntent.LATEST, r"(?P<cue>最近(?:的)?一(?:次|回|版|份|条|封)|最后一(?:次|回|版|份)|最后那(?:次|版|份)|最近那(?:次|版|份)|最近(?:的)?(?:那)?一次)(?!世界|性)"),
    (TemporalIntent.LATEST, r"(?P<cue>最新(?:一|那)?(?:版|稿|一次|的那|的一|那次|那份|那个|的版本|版本|进展))(?!(?:的)?(?:微信|ios|安卓|android|windows|系统|手机|软件|浏览器|教材|课本|chrome|app|政策|法规))"),
    (TemporalIntent.LATEST, r"(?:我|我们|咱们|你(?:给|发|写|做|整理|推荐)?(?:我)?(?:的)?)(?:的)?(?P<cue>最新)(?=的)|(?P<cue2>最新)(?:的)?[\u4e00-\u9fff]{2,6}(?=给我|发我|发一|在哪|拿|呢$|发给|是哪|贴|再发)"),
    (TemporalIntent.LATEST, r"(?:我|我们|咱们|我家|家里|咱家)(?:的)?[\u4e00-\u9fff]{0,6}?(?P<cue>现在|目前|如今|当前|眼下)(?:的)?(?=[\u4e00-\u9fff]{0,10}(?:什么|多少|哪|几|谁|怎么样|呢|吗|啥|$|[?？]))(?!该|应该|要不要|能|可以|去)"),
    (TemporalIntent.LATEST, r"(?P<cue>现在|目前|如今|当前)(?:的)?(?:我|我们)(?:的)?(?=[\u4e00-\u9fff]{0,8}(?:什么|多少|哪|几|谁|啥))"),
    (TemporalIntent.LATEST, r"(?:我|我们)(?P<cue>目前|当前|现在|如今)的(?=[\u4e00-\u9fff])(?!状态不|心情)"),
    (TemporalIntent.LATEST, r"\b(?:my|our|your|the|that) (?:very )?(?P<cue>latest|most recent|newest|most up-to-date|up-to-date|last)(?: \w+){0,2} (?:version|draft|one|copy|update|revision|edit|iteration|entry|log|save)\b|\b(?P<cue2>latest|most recent|newest|final) (?:version|draft|revision|iteration)(?! of (?:windows|ios|android|python|chrome|macos|the app|node|ubuntu))\b"),
    (TemporalIntent.LATEST, r"\b(?:my|our) (?P<cue>latest|most recent|newest|current|present)\b(?! (?:account|events))|\b(?P<cue2>latest|most recent|newest)\b[^.?!]{0,40}\b(?:we|you|i)(?:'ve| have)? (?:made|wrote|discussed|had|sent|did|came|saved|talked|worked|agreed|drafted|shared|planned|used|set)"),
    (TemporalIntent.LATEST, r"\b(?P<cue>(?:the )?(?:most recent|latest|very last) (?:time|occasion|chat|conversation|discussion|session)|when was the last time|when did (?:i|we|you) last)\b"),
    (TemporalIntent.LATEST, r"\b(?:what|which|where|who|how much|how many|how)(?:'s| is| are| am| do| does| did)?\b[^.?!]{0,40}\b(?:i|my|our|we|me)\b[^.?!]{0,40}\b(?P<cue>now|right now|these days|currently|at the moment|at present|nowadays)\b(?! that)|\b(?:i'm|am i|i am|do i|my) (?P<cue2>currently)\b"),
    # the first of several
    (TemporalIntent.EARLIEST, rf"(?P<cue>第一次|首次|头一次|头一回|第一回|最先)(?!世界|工业|鸦片|国共|世纪|产业)(?=(?:[^，。,.]{{0,4}})?(?:{_TALK}|找你|跟你|和你|问你|来找))"),
    (TemporalIntent.EARLIEST, rf"(?:{_SELF})(?:们)?(?P<cue>第一次|首次|头一次)(?=[^，。,.]{{0,6}}(?:{_TALK}))"),
    (TemporalIntent.EARLIEST, r"(?P<cue>最初|最开始|当初)(?!(?:的)?(?:文明|人类|城市|记载|宇宙|形态))"),
    (TemporalIntent.EARLIEST, rf"(?P<cue>最早|一开始|起初|刚开始)(?!(?:的)?(?:一?班|航班|班车|火车|地铁|高铁|机票|车|飞机|几点|船|时间|票|起源|文明|人类|城市|记载|国家|公交|什么时候(?:到|出发|开)|哪年|能到|到达))(?=[^。.]{{0,12}}(?:{_TALK}|定|想|计划|方案|版|要|目标|用的|选|设|为什么|怎么|打算|跟你|和你|给|做|写|是))"),
    (TemporalIntent.EARLIEST, rf"\b(?P<cue>(?:the )?(?:very )?first time)\b(?=[^.?!]{{0,20}}\b(?:i|we|you)\b[^.?!]{{0,14}}(?:{_E_TALK}|{_E_DID}))"),
    (TemporalIntent.EARLIEST, r"\b(?P<cue>(?:our|my|the|your) (?:very )?(?:first|earliest|original|initial) (?:conversation|chat|message|talk|discussion|session|version|draft|plan|idea|question|estimate|budget|proposal|design|request|goal|suggestion|answer|recommendation))\b(?! (?:machine|class|aid))"),
    (TemporalIntent.EARLIEST, rf"\b(?:i|we|you)(?:'d| had| did)? (?P<cue>first|initially|originally) {_E_DID}\b|\b(?:did|when did) (?:i|we|you) (?P<cue2>first|initially|originally)\b|\b(?P<cue3>initially|originally|at the (?:very )?(?:beginning|start|outset)|in the beginning|to begin with|back when we started)\b(?! of)"),
    (TemporalIntent.EARLIEST, rf"\b(?P<cue>the (?:first|earliest) (?:thing|\w+)) (?:that )?(?:i|we|you) (?:ever )?{_E_DID}\b|\b(?P<cue2>earliest)\b(?! (?:flight|train|bus|available|appointment|slot|possible|time|date|i can))(?=[^.?!]{{0,30}}\b(?:we|i|you|chat|conversation|mention))"),
    # the one before this
    (TemporalIntent.PREVIOUS_RELATED, r"(?P<cue>上{1,4}(?:一)?(?:次|回)|前(?:一)?次(?!第)|上(?:一)?趟)"),
    (TemporalIntent.PREVIOUS_RELATED, r"(?P<cue>(?:上|前)两次|倒数第[二三]次)"),
    (TemporalIntent.PREVIOUS_RELATED, rf"(?P<cue>之前|以前|先前|早前|此前|早先|原先)(?:[^，。,.]{{0,8}})?(?=(?:{_TOLD})(?:过|的|到|好|给|了|完|出|下)|聊|讨论|提到|说好|推荐)"),
    (TemporalIntent.PREVIOUS_RELATED, rf"(?:^|[，。,.!?！？ ]|你|我|我们|咱们|咱|您|他|她|跟|和|与|把|按|照|像|是|就|比|还|从|用|的|给我|帮我|关于|到|参考|根据|按照|恢复|回到|沿用)(?P<cue>之前|以前|先前|此前|早前|早先|原先)(?=的|那|$|[，。,.!?！？ ]|{_SAY}|你|我|有|是|也|都|在|已|为|想|买|用|吃|去|住|养|学|一样|订|租|装|关于|咱)"),
    (TemporalIntent.PREVIOUS_RELATED, rf"(?P<cue>曾经|曾|已经)(?:[^，。,.]{{0,4}})?(?={_TALK})"),
    (TemporalIntent.PREVIOUS_RELATED, r"(?P<cue>还记得|记不记得|记得(?:吗|我|你|咱|我们|那)|回忆(?:一)?下|帮我回忆|回想(?:一)?下|想不起来|翻(?:一)?下(?:记录|聊天))"),
    (TemporalIntent.PREVIOUS_RELATED, rf"(?:{_SELF}|帮我|给我|一起|跟你|和你|向你)(?:[^，。,.的]{{0,6}})?(?P<cue>{_TOLD}过)(?!来|去|敏|程|滤|度|分)"),
    (TemporalIntent.PREVIOUS_RELATED, rf"(?:^|[，。,. ]|帮我|给我)(?P<cue>{_TOLD}过)的"),
    (TemporalIntent.PREVIOUS_RELATED, rf"(?:你|您|我们|咱们|咱俩|咱|我)(?:们)?(?:给我|帮我|跟我|跟你|和你|一起)?(?P<cue>(?:{_TOLD})(?:好|到|过|给我|定|下|出)?的)(?!时候|话|地|得|什么)(?=[\u4e00-\u9fffa-z ]|$)"),
    (TemporalIntent.PREVIOUS_RELATED, rf"(?:{_SELF}|跟你|和你)(?:[^，。,.]{{0,6}})?(?P<cue>{_TALK}(?:过|的)?)[^，。,.]{{0,12}}来着"),
    (TemporalIntent.PREVIOUS_RELATED, r"(?P<cue>那次(?:我们)?(?:聊|说|讨论|谈)|那天(?:我们)?(?:聊|说|讨论|谈))"),
    (TemporalIntent.PREVIOUS_RELATED, r"\b(?P<cue>(?:the )?(?:time before (?:last|that)|last but one|second(?:-| )to(?:-| )last (?:time|chat|conversation)|previous time))\b"),
    (TemporalIntent.PREVIOUS_RELATED, r"\b(?P<cue>(?:the )?last time)\b(?! zone)|\b(?P<cue2>(?:our|my|the|that|this|your) (?:last|previous|prior|past|earlier) (?:conversation|chat|session|discussion|talk|meeting with you|exchange|call|thread|plan|advice|recommendations?|suggestions?|list|question|request|recipe|idea|trip plan|guide))\b"),
    (TemporalIntent.PREVIOUS_RELATED, r"\b(?P<cue>previously|formerly)\b|\b(?:we|i|you|us|me|it|that|this|them|list|one|plan|up|about|from|asked|said|mentioned|discussed|talked|like|as|talked about) (?P<cue2>before)(?=$|[.?!,;)]| (?:and|but|please|again|about|on))"),
    (TemporalIntent.PREVIOUS_RELATED, r"\b(?P<cue>earlier)\b(?! (?:flight|train|bus|than|slot|appointment|time|bedtime|start|date|in the (?:day|morning)|version of|bird|generation|meeting|alarm|today|this|edition|model|class|shift|show|one tomorrow))(?=$|[.?!,;]| (?:you|we|i|about|conversation|chat|discussion|talk|plan|recipe|list|advice|suggestion|recommend|mention|and|version|draft|message|today))"),
    (TemporalIntent.PREVIOUS_RELATED, rf"\b(?:i|we|you)(?:'ve|'d| have| had)?(?: (?:already|once|both|also|all))? (?P<cue>{_E_DID})\b(?! (?:to (?:buy|get|go|be|do|see|eat|have|know|learn|make)|a (?:baby|cold|headache|question|dog|cat|meeting|dream|fight|flight|kid)|dinner|lunch|breakfast|me wrong|my|the flu|no|been|better|enough|to)\b)(?<!had)(?<!wanted)(?<!needed)(?<!built)(?<!fixed)(?<!chose)(?<!had)"),
    (TemporalIntent.PREVIOUS_RELATED, rf"\b(?:did|have|had|haven't|didn't) (?:i|we|you) (?P<cue>(?:already |ever |once |not |actually |really |finally |end up )?(?:{_E_TALK}|{_E_DID}|agree|decide|settle|recommend|suggest|give|write|send|share|plan|pick|choose|come up|conclude|make|list))\b"),
    (TemporalIntent.PREVIOUS_RELATED, r"\b(?P<cue>remind me (?:what|which|how|who|when|where|why|of|about)|do you (?:still )?(?:remember|recall)|remember (?:when|what|that|the|my|how|our|i)|(?:as|like) (?:i|we|you) (?:said|discussed|mentioned|agreed|told)|can you recall|recall (?:what|the|our|my)|once told|once mentioned|already (?:told|mentioned|discussed|said))\b(?! to| at)"),
    (TemporalIntent.PREVIOUS_RELATED, r"\b(?P<cue>resend|send (?:me )?again|show me again|pull up|dig up|bring back|pick up where we left off|where we left off|go back to (?:our|the|that)|same as (?:before|last time|always)|like (?:before|last time)|back then)\b"),
    # lately
    (TemporalIntent.RECENT, r"(?<!离我)(?<!距离我)(?<!离)(?<!距)(?<!离他)(?<!离你)(?<!离家)(?<!离这)(?P<cue>最近)(?!(?:的|一|一家|的一家|的那家|的一个)?(?:家)?(?:地铁|车站|火车站|公交|医院|超市|餐厅|餐馆|加油|银行|机场|酒店|商场|药店|路线|路|邮局|停车|充电|便利店|咖啡|派出所|厕所|出口|学校|公园|景点|距离|港口|城市|门店|网点|atm|点|星|菜|商店|邻居|亲戚|祖先))(?!上映|流行|热映|热播|天气|发布|大火|很火|爆火|新闻|有什么新闻|有哪些新闻|的新闻|的天气|股市|油价|金价)"),
    (TemporalIntent.RECENT, r"(?P<cue>近来|近期|近日|近些日子|前(?:一)?阵子?|前(?:一)?段(?:时间|日子)|前些(?:天|日子|时候|阵子)|前几(?:天|日|周|个月|年)|前两天|前两(?:周|个月)|这几(?:天|日|周|个月)|这(?:一)?阵子?|这(?:一)?段(?:时间|日子)|这些(?:天|日子)|这两(?:天|周)|前不久|不久前|不久之前|几(?:天|个月|周|个星期)(?:之|以)?前|过去(?:的)?几(?:天|周|个月)|最近几(?:天|周|个月)|好几天前|没多久前|早些时候|那阵子|那段时间|一阵子前|有段时间)"),
    (TemporalIntent.RECENT, r"\b(?P<cue>recently|lately|of late|these days|nowadays|the other (?:day|week|night|evening|morning|month)|a (?:little )?while (?:ago|back)|not (?:too |so )?long ago|(?:a )?few (?:days|weeks|months|nights) (?:ago|back|earlier)|(?:several|some|a number of) (?:days|weeks|months) (?:ago|back)|some time ago|(?:the |these )?(?:past|last) (?:few|several|couple) (?:days|weeks|months|nights)|(?:in|over) recent (?:days|weeks|months|times)|in the (?:recent|not too distant) past|recent)\b"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that carry an intent, as a span of the folded text. `again`: they only ask for a repetition."""

    intent: TemporalIntent
    first: int
    last: int
    nth: int = 1
    again: bool = False


_AGAIN = re.compile(r"一(?:遍|次)$|\b(?:again|back|once more|one more time)$")
_COMPILED = tuple((intent, re.compile(pattern)) for intent, pattern in _ROWS)


def cues_in(text: str) -> Iterator[Cue]:
    """All cues of the folded text that stand on word borders."""
    for intent, pattern in _COMPILED:
        for match in pattern.finditer(text):
            name = next((key for key, value in match.groupdict().items() if value), None)
            if name is None:
                continue
            first, last = match.span(name)
            if on_borders(text, first, last, name_score=CUE_SCORE):
                again = intent is TemporalIntent.CURRENT_SESSION and bool(_AGAIN.search(match[name]))
                yield Cue(intent, first, last, _nth(match[name]), again)


def _nth(words: str) -> int:
    """Which one back: 上上次 and `the time before last` are the second."""
    if words.startswith("上") and words.rstrip("一次回") == "上" * len(words.rstrip("一次回")):
        return max(len(words.rstrip("一次回")), 1)
    if words in ("上两次", "前两次", "倒数第二次") or "before last" in words or "before that" in words:
        return 2
    if words == "倒数第三次":
        return 3
    return 2 if words.startswith(("the second", "second")) or "last but one" in words else 1
