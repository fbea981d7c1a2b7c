"""What words and signs of a sentence about choices are: tables that `words` makes tokens with.

Kinds are those of `relfast.tasks.rel_a.words.Token`. Every pattern takes time linear
in its text: repetitions are possessive or of bounded length.
"""

from __future__ import annotations

from typing import Final

from relfast.tasks.rel_a.numbers import DIGITS, NUMERALS

_EXPRESSION: Final = (
    r"[0-9]++(?:[.,][0-9]++)*+(?:\s?(?:[-–+/^=<>%·−×÷~]|\.{2,3}|…)\s?[-+−]?[0-9]++(?:[.,][0-9]++)*+|"
    r"\s(?:to|through|thru|plus|minus|times|mod|of|out\sof|divided\sby)\s(?:the\s)?[0-9]++)++"
)
AFTER_NUMBER: Final = "です|だ|で|입|번|이|가|を|と|は|が|の"
"""What may stand right behind a number beside Chinese characters, which are words of their own."""
HAN: Final = ("\u4e00", "\u9fff")
"""The first and last of them."""
COUNTERS: Final = "个個项項"
ITEMS: Final = "选项|選項|答案"
BEHIND_ITEM: Final = "是为為不正符最才就都也的和或与及面满完"
"""Chinese characters that may follow 第4个, "the fourth", where it stands for a choice."""
_ITEM: Final = (
    rf"第 ?(?:[1-9][0-9]{{0,8}}+|[{NUMERALS}]) ?(?:[{COUNTERS}](?: ?(?:{ITEMS}))?+|[号號]?(?:{ITEMS}))"
    rf"(?![{HAN[0]}-{HAN[1]}](?<![{BEHIND_ITEM}]))"
)
_VALUE: Final = (
    r"[0-9]++(?:[.,:][0-9]++)++|(?<![\w)])[-+−.,±√][0-9]++\w*+|[0-9]++(?=\s?[%°×÷^])|"
    rf"[0-9]++(?!st\b|nd\b|rd\b|th\b|[{HAN[0]}-{HAN[1]}]|{AFTER_NUMBER})"
    r"[^\W0-9]\w*+"
)

SIGNS: Final[list[tuple[str, str]]] = [
    ("ITEM", _ITEM),
    ("W", _EXPRESSION),
    ("KEYCAP", r"[1-9]\ufe0f?\u20e3"),
    ("NTH", r"(?<![\w.,])[0-9]{1,9}+(?:st|nd|rd|th)\b"),
    ("W", _VALUE),
    ("G", r"(?<![.,0-9])[0-9]++"),
    ("CIRCLED", f"[{''.join(DIGITS)}]"),
    ("N", "[¬≠]"),
    ("B", "[❌✗✘🚫✖❎]"),
    ("Y", "[✓✔✅☑🎯]"),
    ("K", "&"),
    ("+", "[/|+]"),
    ("(", "[(（]"),
    (")", "[)）]"),
    (",", "[,，、;；]"),
    ("-", r"(?<=\s)[-–]+(?=\s|$)|[—―]|^[-–—]+(?=\s)|(?<=[0-9])[-–](?=\s)|[–—](?=[^\W0-9])"),
    ("C", "[:：=]"),
    ("?", "[?？]"),
]
"""Tokens that are no words, in order: the first that matches is taken."""

PHRASES: Final[list[tuple[str, str]]] = [
    # what is no denial although it looks like one, and what is said of the other choices
    ("F", r"(?:no|without(?: a)?|beyond(?: a)?) (?:doubt|question)"),
    ("F", r"almost certainly|not (?:so )?much|not just|not (?:\w{1,20} )?(?:sure|certain)|uncertain|unsure"),
    ("J", r"not (?:because|since|due)|considering that"),
    ("O", r"(?:no|none|every|each|any|all)(?: of)?(?: the)? others?(?: (?:answer|option|choice|panel|"
    r"candidate)s?)?"),
    ("O", r"(?:nothing|everything|anything|none) else|the (?:rest|remaining)|none of (?:them|these)"),
    ("O", r"other (?:answer|option|choice|panel|candidate)s|(?:the )?others|the other"),
    ("n", r"(?:all|everything|every \w{1,9}|anything|nothing|none|nobody) (?:but|except)|(?:other|"
    r"rather) than|as opposed to|apart from"),
    ("D", r"(?:might|may|could) (?:think|say|seem|appear)|would think|some (?:would|might|may)"),
    ("B", r"if (?:not|it (?:was|were)n't) for"),
    ("X", r"or so"),
    ("n", r"any (?:number|answer|option|choice|panel|one) (?:but|except)"),
    ("n", r"instead of|except(?:ing)? for"),
    ("R", r"scratch that|make that|i mean(?:t)?|hold on|never mind|on second thoughts?|on reflection|"
    r"or rather|just kidding|my (?:mistake|bad)"),
    ("S", r"in conclusion|in short|i\.e|that is(?=,)|which means"),
    ("M", r"what about|how about|look(?:ing)? at"),
    ("E", r"rul(?:e[sd]?|ing) out"),
    ("N", r"no one|no longer|n'est pas|no es(?: la)?|\w{1,9}n't"),
    ("B", r"off by|not possible"),
    ("L", r"(?:go|going|went|gone) (?:with|for)|settled? on|opt(?:ed)? for|vote for"),
    ("m", r"corresponds? (?:to|with)|leads to|points to|found in|given by|completed by|shown in|"
    r"identical to|same as|equal to|matched by"),
    ("C", r"would be|must be|should be|will be|has to be|appears to be|seems to be"),
    ("F", r"to be|most likely|this one|the only(?= (?:answer|option|choice) is)"),
    ("I", r"one that"),
    ("F", r"it (?:looks|seems|appears) (?:like|as if|that)"),
    ("m", r"listed (?:under|as)"),
    ("F", r"(?:exactly|precisely|just) what"),
    ("B", r"(?:one|two) off"),
    ("F", r"the one(?= (?:labell?ed|numbered|called|named|marked|listed|given) )"),
    ("n", r"(?:second|third|next)[ -]best"),
    ("X", r"number of"),
    ("A", r"a(?=\s?:)"),
]  # fmt: skip
OPENS_PHRASE: Final = frozenset(
    ["almost", "it", "listed", "exactly", "if", "precisely", "two", "second", "third", "next",
     "any", "my", "no", "without", "beyond", "not", "uncertain", "unsure", "considering", "none",
     "every", "each", "all", "nothing", "everything", "anything", "the", "other", "others",
     "nobody", "rather", "as", "apart", "instead", "except", "excepting", "scratch", "make", "i",
     "hold", "never", "on", "or", "in", "that", "which", "what", "how", "look", "looking", "rule",
     "ruled", "rules", "ruling", "n", "es", "off", "go", "going", "went", "gone", "settle",
     "settled", "opt", "opted", "vote", "corresponds", "correspond", "leads", "points", "found",
     "given", "completed", "shown", "identical", "same", "equal", "matched", "might", "may",
     "could", "some", "just", "would", "must", "should", "will", "has", "appears", "seems", "to",
     "most", "this", "one", "number", "a"]
)  # fmt: skip
"""First words of `PHRASES`."""
ENDS_PHRASE: Final = frozenset(
    ["with", "on", "for", "to", "in", "by", "as", "of", "out", "from", "except", "else", "thru", "through",
     "your", "number", "meant", "say"]
)  # fmt: skip
"""Last words of them."""

CJK: Final[list[tuple[str, str]]] = [
    ("W", "不变|不断|不仅|不但|非常|因子|下列|如下|不足"),
    ("R", "其实|实际上|等等|等一下"),
    ("?", "吗|嗎"),
    ("D", "以为|如果|假设|假如|假定|倘若|若|是否|是不是|能否"),
    ("n", "除了|而非|而不是"),
    ("T", "而是|但是|然而|不过|但|ではなく|아니라"),
    (
        "B",
        "错误|錯誤|错的|不符|不对|不對|不可能|有误|有誤|违反|违背|矛盾|ではありません|ではない|じゃない|くありません|くない|"
        "아니|아닙",
    ),
    ("N", "并不是|不是|并非|不能|不会|没有|无法|不|非|没"),
    ("J", "因为|因為|由于|由於|既然|鉴于"),
    ("S", "因此|所以|故|综上所述|综上|总之|最后|于是"),
    ("U", "或者|或|也许"),
    ("X", "之和|总和|的和|和为|和是|个数"),
    ("K", "以及|并且|和|与|及|と"),
    (
        "A",
        "候选答案|候选项|候选|答案|选项|選項|選択肢|回答|解答|正答|结论|結論|结果|結果|答え|正解|索引|编号|序号|선택지|정답|답",
    ),
    ("P", "面板|パネル"),
    ("Q", "正确|正確|最终|最終|最佳|缺失|缺少"),
    ("1", "只有|唯有|唯一|仅有|仅"),
    ("Y", "符合|满足|滿足|匹配|一致|吻合|完成|相符|相同|对的|合适|适合|遵循"),
    ("E", "排除|淘汰|剔除|去掉"),
    ("M", "检查|验证|比较|对比|考虑|观察"),
    ("L", "选择|選擇|选定|选出|挑选|选|選|填"),
    ("m", "对应|對應|等于|得到|得出"),
    ("F", "应该|應該|应当|大概|应|就|都|也|了|即|那么|显然|一定|必然|必须|可能|很"),
    ("I", "我们|我們|我|它们|它|这|這|那|此|该"),
    ("C", "번이|번은|番が|番は"),
    ("F", "的|은|는|입니다|です|번|号|號|番"),
    ("C", "是|为|為|は|が"),
    ("X", "行|列|步|差|值|数|个|個|项|項|倍|次"),
]
"""Words of languages without spaces; any other Chinese character is a ``W``."""
STEMS: Final = {
    "elimin": "E", "crosse": "E", "exclud": "E", "reject": "E", "discar": "E", "dismis": "E", "violat": "B",
    "contra": "B", "mismat": "B", "satisf": "Y",
    "ответ": "A", "ответа": "A", "odpowi": "A", "правил": "Q",
}  # fmt: skip
"""First six letters of words that bend."""

_KINDS: Final = {
    "n": "except excepting besides ignore skip forget unlike without than versus vs avoid avoids like",
    "O": "other else",
    "T": "but however although though whereas while yet nevertheless sondern mais pero",
    "R": "wait actually correction oops sorry instead nevermind edit revised correcting hmm",
    "S": "so therefore thus hence finally consequently overall conclusion ultimately accordingly namely ergo "
    "meaning daher",
    "J": "because since as given due based where when weil porque car parce",
    "D": "wish naive someone somebody tempting people if suppose supposing assume assuming whether unless "
    "imagine hypothetically",
    "M": "consider considering check checking try trying test testing let lets compare compared comparing "
    "examine examining look looking "
    "start starting begin beginning between evaluate verify",
    "U": "or alternatively maybe perhaps possibly otherwise either oder ou o или",
    "K": "and then und et",
    "N": "refuse refuses decline almost nearly partially partly doubt doubts not never neither nor "
    "cannot hardly barely nobody "
    "cant dont isnt wont doesnt aint pas nicht kein "
    "keine non não не",
    "Z": "no",
    "B": "far mistake wrong incorrect invalid inconsistent false bad impossible mistaken error break "
    "breaks broke broken "
    "decoy distractor trap least worst fail fails failed lacks misses "
    "differs deviates disagrees unlikely worse out nope incompatible",
    "1": "only solely exclusively",
    "Y": "good fit fits fitted fitting work works continue continues follow follows agree agrees consistent "
    "identical same exact exactly precisely valid "
    "remains left survives preserves obeys completes complete completing perfect perfectly winner wins "
    "yes matching does better",
    "L": "place insert put choose chooses choosing chose pick picks picked picking select selects "
    "selected selecting conclude "
    "concludes submit report "
    "return output say guess",
    "m": "require requires demands implies suggests match matches matched equals equal gives yields "
    "leaves leaving gets get indicates need needs reads",
    "C": "is are be being was were es est ist sei lautet è é jest adalah là är هو هي",
    "A": "answer answers ans opt response lösung вариант option options choice choices candidate candidates "
    "solution result boxed selection prediction possibility alternativa chosen "
    "respuesta réponse antwort risposta resposta yanıt cevap jawaban jawabannya antwoord svar svaret án "
    "l'option l'opzione opção الإجابة الجواب उत्तर opción выбор вариант",
    "P": "panel panels panneau tafel index position",
    "Q": "final correct right missing best fehlende falta manquant correta proper true correcta correcto "
    "correcte bonne richtige richtig doğru đúng",
    "X": "there step steps row rows column columns value values difference differences sum sums cell cells "
    "entry entries element elements total "
    "product increment delta size count score confidence probability length grid level figure example "
    "question problem line item case rule "
    "section page chapter equation constant base start range digit digits numbers attempt attempts tries "
    "turn time times minutes more less "
    "squared cubed plus minus cdot version part half twice double sign",
    "F": "the a an my our number no. n° will must should would likely probably definitely clearly certainly "
    "indeed just very surely simply "
    "obviously la le el der die das il id label labelled labeled numbered called "
    "named uh well also too equally",
    "I": "it that this which they these i we you me he",
}
KIND_OF: Final = {word: kind for kind, words in _KINDS.items() for word in words.split()}
