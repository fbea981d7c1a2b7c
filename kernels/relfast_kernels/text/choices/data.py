# ruff: noqa: E501
# fmt: off
"""Made by ``python tests/pattern_sources.py`` from the tables of REL-A's ``strict`` extractor; not to be edited."""

from __future__ import annotations

from typing import Final

(
    SET_PREPOSITION, SET_INDEX, SET_FOR_BY, SET_BOXED, SET_NUMBER_OF, SET_VERSUS, SET_BEGINS,
    SET_ANSWERS, SET_WITHIN, SET_BEST, SET_RIGHT, SET_IT, SET_AS, SET_AS_WELL, SET_THROUGH, SET_NOR,
    SET_OUTPUT, SET_MINE, SET_NUMBER, SET_ANY_OTHER, SET_FINAL, SET_ONE, SET_LISTS, SET_GIVES_REASON,
) = (1 << bit for bit in range(24))
"""Words that rules ask for by name."""

WORDS: Final = {
    ('#', 1, True, 0, False, False): (
        'first '
    ),
    ('#', 2, True, 0, True, False): (
        'second '
    ),
    ('#', 3, True, 0, True, False): (
        'third '
    ),
    ('#', 4, True, 0, False, False): (
        'fourth '
    ),
    ('#', 5, True, 0, False, False): (
        'fifth '
    ),
    ('#', 6, True, 0, False, False): (
        'sixth '
    ),
    ('#', 7, True, 0, False, False): (
        'seventh '
    ),
    ('#', 8, True, 0, False, False): (
        'eighth '
    ),
    ('#', 9, True, 0, False, False): (
        'ninth '
    ),
    ('', 0, False, 0, False, True): (
        'from meant of '
    ),
    ('', 0, False, 0, True, False): (
        'all anything apart appears beyond completed correspond corresponds could each every everything '
        'found go going gone has hold how leads listed make may might most n next none nothing off opted '
        'others points rather ruled rules ruling scratch seems settle settled shown some uncertain unsure '
        'vote went what '
    ),
    ('', 0, False, 0, True, True): (
        'on '
    ),
    ('1', 0, False, 0, False, False): (
        'exclusively only solely '
    ),
    ('A', 0, False, 0, False, False): (
        'alternativa ans answer antwoord antwort candidate cevap choice chosen jawaban jawabannya '
        "l'option l'opzione l\xf6sung opci\xf3n option op\xe7\xe3o possibility prediction response resposta respuesta "
        'risposta r\xe9ponse selection svar svaret yan\u0131t \xe1n \u0432\u0430\u0440\u0438\u0430\u043d\u0442 \u0432\u044b\u0431\u043e\u0440 \u0627\u0644\u0625\u062c\u0627\u0628\u0629 \u0627\u0644\u062c\u0648\u0627\u0628 \u0909\u0924\u094d\u0924\u0930 '
    ),
    ('A', 0, False, 0, True, False): (
        'opt '
    ),
    ('A', 0, False, 136, False, False): (
        'boxed '
    ),
    ('A', 0, False, 4194304, False, False): (
        'candidates choices options '
    ),
    ('A', 0, False, 4194432, False, False): (
        'answers '
    ),
    ('A', 0, False, 65536, False, False): (
        'result solution '
    ),
    ('B', 0, False, 0, False, False): (
        'bad break breaks broke broken decoy deviates differs disagrees distractor error fail failed '
        'fails false far impossible incompatible inconsistent incorrect invalid lacks least misses '
        'mistake mistaken nope trap unlikely worse worst wrong '
    ),
    ('B', 0, False, 0, False, True): (
        'out '
    ),
    ('C', 0, False, 0, False, False): (
        'adalah are be being est is ist jest lautet l\xe0 sei was were \xe4r \xe8 \xe9 \u0647\u0648 \u0647\u064a '
    ),
    ('C', 0, False, 0, True, False): (
        'es '
    ),
    ('D', 0, False, 0, False, False): (
        'assume assuming hypothetically imagine naive people somebody someone suppose supposing tempting '
        'unless whether wish '
    ),
    ('D', 0, False, 0, True, False): (
        'if '
    ),
    ('F', 0, False, 0, False, False): (
        "an called certainly clearly das definitely der die el i'd i'll i'm id il indeed label labeled "
        "labelled le likely named no. numbered n\xb0 obviously probably simply surely uh very we'd we'll "
        "well you'd "
    ),
    ('F', 0, False, 0, True, False): (
        'just must should the will would '
    ),
    ('F', 0, False, 131072, False, False): (
        'our '
    ),
    ('F', 0, False, 131072, True, False): (
        'my '
    ),
    ('F', 0, False, 262144, False, False): (
        'la '
    ),
    ('F', 0, False, 262144, True, True): (
        'number '
    ),
    ('F', 0, False, 8, True, False): (
        'a '
    ),
    ('F', 0, False, 8192, False, False): (
        'also equally too '
    ),
    ('G', 1, True, 2098176, True, False): (
        'one '
    ),
    ('G', 2, True, 0, True, False): (
        'two '
    ),
    ('G', 3, True, 0, False, False): (
        'three '
    ),
    ('G', 4, True, 0, False, False): (
        'four '
    ),
    ('G', 5, True, 0, False, False): (
        'five '
    ),
    ('G', 6, True, 0, False, False): (
        'six '
    ),
    ('G', 7, True, 0, False, False): (
        'seven '
    ),
    ('G', 8, True, 0, False, False): (
        'eight '
    ),
    ('G', 9, True, 0, False, False): (
        'nine '
    ),
    ('I', 0, False, 0, False, False): (
        'he me these they we you '
    ),
    ('I', 0, False, 0, True, False): (
        'i that this which '
    ),
    ('I', 0, False, 2048, True, False): (
        'it '
    ),
    ('J', 0, False, 0, False, False): (
        'based because car due parce porque since weil when where '
    ),
    ('J', 0, False, 0, True, False): (
        'given '
    ),
    ('K', 0, False, 0, False, False): (
        'and et then und '
    ),
    ('L', 0, False, 0, False, False): (
        'choose chooses choosing chose conclude concludes guess insert pick picked picking picks place '
        'put report return select selected selecting selects submit '
    ),
    ('L', 0, False, 0, False, True): (
        'say '
    ),
    ('L', 0, False, 65536, False, False): (
        'output '
    ),
    ('M', 0, False, 0, False, False): (
        'beginning between check checking compare compared comparing consider evaluate examine examining '
        'let lets starting test testing try trying verify '
    ),
    ('M', 0, False, 0, True, False): (
        'considering look looking '
    ),
    ('M', 0, False, 64, False, False): (
        'begin '
    ),
    ('N', 0, False, 0, False, False): (
        'aint barely cannot cant decline doesnt dont doubt doubts hardly isnt kein keine nearly neither '
        'nicht non n\xe3o partially partly pas refuse refuses wont \u043d\u0435 '
    ),
    ('N', 0, False, 0, True, False): (
        'almost never nobody not '
    ),
    ('N', 0, False, 32768, False, False): (
        'nor '
    ),
    ('O', 0, False, 0, False, True): (
        'else '
    ),
    ('O', 0, False, 524288, True, False): (
        'other '
    ),
    ('P', 0, False, 0, False, False): (
        'panel panels panneau position tafel '
    ),
    ('P', 0, False, 2, False, False): (
        'index '
    ),
    ('Q', 0, False, 0, False, False): (
        'bonne correct correcta correcte correcto correta do\u011fru falta fehlende manquant missing proper '
        'richtig richtige right true \u0111\xfang '
    ),
    ('Q', 0, False, 1048576, False, False): (
        'final '
    ),
    ('Q', 0, False, 512, False, False): (
        'best '
    ),
    ('R', 0, False, 0, False, False): (
        'actually correcting correction edit hmm nevermind oops revised sorry wait '
    ),
    ('R', 0, False, 0, True, False): (
        'instead '
    ),
    ('S', 0, False, 0, False, False): (
        'accordingly conclusion consequently daher ergo finally hence meaning namely overall so therefore '
        'thus ultimately '
    ),
    ('T', 0, False, 0, False, False): (
        'although but however mais nevertheless pero sondern though whereas while yet '
    ),
    ('U', 0, False, 0, False, False): (
        'alternatively either maybe o oder otherwise ou perhaps possibly \u0438\u043b\u0438 '
    ),
    ('U', 0, False, 0, True, False): (
        'or '
    ),
    ('W', 0, False, 131072, False, True): (
        'your '
    ),
    ('W', 0, False, 16384, False, True): (
        'through thru '
    ),
    ('W', 0, False, 16384, True, True): (
        'to '
    ),
    ('W', 0, False, 257, False, True): (
        'with '
    ),
    ('W', 0, False, 257, True, True): (
        'in '
    ),
    ('W', 0, False, 524288, False, False): (
        'whatever whichever '
    ),
    ('W', 0, False, 524288, True, False): (
        'any '
    ),
    ('W', 0, False, 532480, False, False): (
        'another '
    ),
    ('W', 0, False, 8192, False, False): (
        'alternative '
    ),
    ('W', 0, False, 8388613, False, True): (
        'for '
    ),
    ('W', 0, False, 8388869, False, True): (
        'by '
    ),
    ('W', 0, False, 8392960, True, True): (
        'as '
    ),
    ('X', 0, False, 0, False, False): (
        'attempt attempts base case cdot cell cells chapter column columns confidence constant count '
        'cubed delta difference differences digit digits double element elements entries entry equation '
        'example figure grid half increment item length less level line minus minutes more numbers page '
        'part plus probability problem product question range row rows score section sign size squared '
        'step steps sum sums there time times total tries turn twice value values version '
    ),
    ('X', 0, False, 0, True, False): (
        'rule '
    ),
    ('X', 0, False, 64, False, False): (
        'start '
    ),
    ('Y', 0, False, 0, False, False): (
        'agree agrees consistent continue continues does exact fit fits fitted fitting follow follows '
        'good left matching obeys preserves remains survives valid work works '
    ),
    ('Y', 0, False, 0, True, False): (
        'exactly identical precisely same '
    ),
    ('Y', 0, False, 1024, False, False): (
        'complete completes completing perfect perfectly winner wins yes '
    ),
    ('Y', 0, False, 1536, False, False): (
        'better '
    ),
    ('Z', 0, False, 0, True, False): (
        'no '
    ),
    ('m', 0, False, 0, False, False): (
        'demands equals get gets gives implies indicates leaves leaving match matches need needs reads '
        'require requires suggests yields '
    ),
    ('m', 0, False, 0, True, False): (
        'equal matched '
    ),
    ('n', 0, False, 0, False, False): (
        'avoid avoids besides forget ignore like skip than unlike '
    ),
    ('n', 0, False, 0, True, False): (
        'excepting without '
    ),
    ('n', 0, False, 0, True, True): (
        'except '
    ),
    ('n', 0, False, 32, False, False): (
        'versus vs '
    ),
}
"""Kind, number, whether it is a number, sets; whether phrases begin or end with it → words."""

STEMS: Final = {'elimin': 'E', 'crosse': 'E', 'exclud': 'E', 'reject': 'E', 'discar': 'E', 'dismis': 'E', 'violat': 'B', 'contra': 'B', 'mismat': 'B', 'satisf': 'Y', '\u043e\u0442\u0432\u0435\u0442': 'A', '\u043e\u0442\u0432\u0435\u0442\u0430': 'A', 'odpowi': 'A', '\u043f\u0440\u0430\u0432\u0438\u043b': 'Q'}
PHRASES: Final = [('F', 0), ('F', 0), ('J', 0), ('O', 0), ('O', 0), ('O', 0), ('n', 0), ('D', 0), ('B', 0), ('X', 0), ('n', 0), ('n', 0), ('R', 0), ('S', 0), ('M', 0), ('E', 0), ('N', 0), ('B', 0), ('L', 0), ('m', 0), ('C', 0), ('F', 0), ('I', 0), ('F', 0), ('m', 0), ('F', 0), ('B', 0), ('F', 0), ('n', 0), ('X', 16), ('A', 8)]
"""Kind and sets of each phrase, whose patterns are numbered so."""
SWAPS: Final = [('<', ' answer: '), ('<', ' ; '), ('<', ' not '), ('<', ' '), ('\\', ' '), ('\\', ' '), ('[/', ' '), ('&', ' '), ('\\', ' not '), ('\\', '\xd7'), ('\\', ' : '), ('\\', ' boxed '), ('\\', ' so '), ('\\', ' '), ('*', '\xd7'), ('[', ' values '), ('_', 'x'), ('!=', ' not '), ('!', ' not '), ('>', ' : '), ('(1', ' '), ('', ' than '), ('not', ' ')]
"""What must be there, and what is written instead."""
SPACES: Final = '*`$"\u201c\u201d\u201e\xab\xbb{}[]#\\<>\u3010\u3011\u300c\u300d\u300e\u300f_\u200b\u200c\u200d\u2060\ufeff\xa0\u2018'
COLONS: Final = '\u2192\u27a1\u21d2\u27f9\u27f6\U0001f449\u279c'
"""Characters that are written so."""
SIGNS: Final = {'CIRCLED': ['\u2460', '\u2461', '\u2462', '\u2463', '\u2464', '\u2465', '\u2466', '\u2467', '\u2468', '\u2776', '\u2777', '\u2778', '\u2779', '\u277a', '\u277b', '\u277c', '\u277d', '\u277e', '\u2780', '\u2781', '\u2782', '\u2783', '\u2784', '\u2785', '\u2786', '\u2787', '\u2788', '\u278a', '\u278b', '\u278c', '\u278d', '\u278e', '\u278f', '\u2790', '\u2791', '\u2792'], 'N': ['\xac', '\u2260'], 'B': ['\u2716', '\u2717', '\u2718', '\u274c', '\u274e', '\U0001f6ab'], 'Y': ['\u2611', '\u2705', '\u2713', '\u2714', '\U0001f3af'], 'K': ['&'], '+': ['+', '/', '|'], '(': ['(', '\uff08'], ')': [')', '\uff09'], ',': [',', ';', '\u3001', '\uff0c', '\uff1b'], 'C': [':', '=', '\uff1a'], '?': ['?', '\uff1f']}
SCRIPTS: Final = [('W', '\u4e0d\u53d8'), ('W', '\u4e0d\u65ad'), ('W', '\u4e0d\u4ec5'), ('W', '\u4e0d\u4f46'), ('W', '\u975e\u5e38'), ('W', '\u56e0\u5b50'), ('W', '\u4e0b\u5217'), ('W', '\u5982\u4e0b'), ('W', '\u4e0d\u8db3'), ('R', '\u5176\u5b9e'), ('R', '\u5b9e\u9645\u4e0a'), ('R', '\u7b49\u7b49'), ('R', '\u7b49\u4e00\u4e0b'), ('?', '\u5417'), ('?', '\u55ce'), ('D', '\u4ee5\u4e3a'), ('D', '\u5982\u679c'), ('D', '\u5047\u8bbe'), ('D', '\u5047\u5982'), ('D', '\u5047\u5b9a'), ('D', '\u5018\u82e5'), ('D', '\u82e5'), ('D', '\u662f\u5426'), ('D', '\u662f\u4e0d\u662f'), ('D', '\u80fd\u5426'), ('n', '\u9664\u4e86'), ('n', '\u800c\u975e'), ('n', '\u800c\u4e0d\u662f'), ('T', '\u800c\u662f'), ('T', '\u4f46\u662f'), ('T', '\u7136\u800c'), ('T', '\u4e0d\u8fc7'), ('T', '\u4f46'), ('T', '\u3067\u306f\u306a\u304f'), ('T', '\uc544\ub2c8\ub77c'), ('B', '\u9519\u8bef'), ('B', '\u932f\u8aa4'), ('B', '\u9519\u7684'), ('B', '\u4e0d\u7b26'), ('B', '\u4e0d\u5bf9'), ('B', '\u4e0d\u5c0d'), ('B', '\u4e0d\u53ef\u80fd'), ('B', '\u6709\u8bef'), ('B', '\u6709\u8aa4'), ('B', '\u8fdd\u53cd'), ('B', '\u8fdd\u80cc'), ('B', '\u77db\u76fe'), ('B', '\u3067\u306f\u3042\u308a\u307e\u305b\u3093'), ('B', '\u3067\u306f\u306a\u3044'), ('B', '\u3058\u3083\u306a\u3044'), ('B', '\u304f\u3042\u308a\u307e\u305b\u3093'), ('B', '\u304f\u306a\u3044'), ('B', '\uc544\ub2c8'), ('B', '\uc544\ub2d9'), ('N', '\u5e76\u4e0d\u662f'), ('N', '\u4e0d\u662f'), ('N', '\u5e76\u975e'), ('N', '\u4e0d\u80fd'), ('N', '\u4e0d\u4f1a'), ('N', '\u6ca1\u6709'), ('N', '\u65e0\u6cd5'), ('N', '\u4e0d'), ('N', '\u975e'), ('N', '\u6ca1'), ('J', '\u56e0\u4e3a'), ('J', '\u56e0\u70ba'), ('J', '\u7531\u4e8e'), ('J', '\u7531\u65bc'), ('J', '\u65e2\u7136'), ('J', '\u9274\u4e8e'), ('S', '\u56e0\u6b64'), ('S', '\u6240\u4ee5'), ('S', '\u6545'), ('S', '\u7efc\u4e0a\u6240\u8ff0'), ('S', '\u7efc\u4e0a'), ('S', '\u603b\u4e4b'), ('S', '\u6700\u540e'), ('S', '\u4e8e\u662f'), ('U', '\u6216\u8005'), ('U', '\u6216'), ('U', '\u4e5f\u8bb8'), ('X', '\u4e4b\u548c'), ('X', '\u603b\u548c'), ('X', '\u7684\u548c'), ('X', '\u548c\u4e3a'), ('X', '\u548c\u662f'), ('X', '\u4e2a\u6570'), ('K', '\u4ee5\u53ca'), ('K', '\u5e76\u4e14'), ('K', '\u548c'), ('K', '\u4e0e'), ('K', '\u53ca'), ('K', '\u3068'), ('A', '\u5019\u9009\u7b54\u6848'), ('A', '\u5019\u9009\u9879'), ('A', '\u5019\u9009'), ('A', '\u7b54\u6848'), ('A', '\u9009\u9879'), ('A', '\u9078\u9805'), ('A', '\u9078\u629e\u80a2'), ('A', '\u56de\u7b54'), ('A', '\u89e3\u7b54'), ('A', '\u6b63\u7b54'), ('A', '\u7ed3\u8bba'), ('A', '\u7d50\u8ad6'), ('A', '\u7ed3\u679c'), ('A', '\u7d50\u679c'), ('A', '\u7b54\u3048'), ('A', '\u6b63\u89e3'), ('A', '\u7d22\u5f15'), ('A', '\u7f16\u53f7'), ('A', '\u5e8f\u53f7'), ('A', '\uc120\ud0dd\uc9c0'), ('A', '\uc815\ub2f5'), ('A', '\ub2f5'), ('P', '\u9762\u677f'), ('P', '\u30d1\u30cd\u30eb'), ('Q', '\u6b63\u786e'), ('Q', '\u6b63\u78ba'), ('Q', '\u6700\u7ec8'), ('Q', '\u6700\u7d42'), ('Q', '\u6700\u4f73'), ('Q', '\u7f3a\u5931'), ('Q', '\u7f3a\u5c11'), ('1', '\u53ea\u6709'), ('1', '\u552f\u6709'), ('1', '\u552f\u4e00'), ('1', '\u4ec5\u6709'), ('1', '\u4ec5'), ('Y', '\u7b26\u5408'), ('Y', '\u6ee1\u8db3'), ('Y', '\u6eff\u8db3'), ('Y', '\u5339\u914d'), ('Y', '\u4e00\u81f4'), ('Y', '\u543b\u5408'), ('Y', '\u5b8c\u6210'), ('Y', '\u76f8\u7b26'), ('Y', '\u76f8\u540c'), ('Y', '\u5bf9\u7684'), ('Y', '\u5408\u9002'), ('Y', '\u9002\u5408'), ('Y', '\u9075\u5faa'), ('E', '\u6392\u9664'), ('E', '\u6dd8\u6c70'), ('E', '\u5254\u9664'), ('E', '\u53bb\u6389'), ('M', '\u68c0\u67e5'), ('M', '\u9a8c\u8bc1'), ('M', '\u6bd4\u8f83'), ('M', '\u5bf9\u6bd4'), ('M', '\u8003\u8651'), ('M', '\u89c2\u5bdf'), ('L', '\u9009\u62e9'), ('L', '\u9078\u64c7'), ('L', '\u9009\u5b9a'), ('L', '\u9009\u51fa'), ('L', '\u6311\u9009'), ('L', '\u9009'), ('L', '\u9078'), ('L', '\u586b'), ('m', '\u5bf9\u5e94'), ('m', '\u5c0d\u61c9'), ('m', '\u7b49\u4e8e'), ('m', '\u5f97\u5230'), ('m', '\u5f97\u51fa'), ('F', '\u5e94\u8be5'), ('F', '\u61c9\u8a72'), ('F', '\u5e94\u5f53'), ('F', '\u5927\u6982'), ('F', '\u5e94'), ('F', '\u5c31'), ('F', '\u90fd'), ('F', '\u4e5f'), ('F', '\u4e86'), ('F', '\u5373'), ('F', '\u90a3\u4e48'), ('F', '\u663e\u7136'), ('F', '\u4e00\u5b9a'), ('F', '\u5fc5\u7136'), ('F', '\u5fc5\u987b'), ('F', '\u53ef\u80fd'), ('F', '\u5f88'), ('I', '\u6211\u4eec'), ('I', '\u6211\u5011'), ('I', '\u6211'), ('I', '\u5b83\u4eec'), ('I', '\u5b83'), ('I', '\u8fd9'), ('I', '\u9019'), ('I', '\u90a3'), ('I', '\u6b64'), ('I', '\u8be5'), ('C', '\ubc88\uc774'), ('C', '\ubc88\uc740'), ('C', '\u756a\u304c'), ('C', '\u756a\u306f'), ('F', '\u7684'), ('F', '\uc740'), ('F', '\ub294'), ('F', '\uc785\ub2c8\ub2e4'), ('F', '\u3067\u3059'), ('F', '\ubc88'), ('F', '\u53f7'), ('F', '\u865f'), ('F', '\u756a'), ('C', '\u662f'), ('C', '\u4e3a'), ('C', '\u70ba'), ('C', '\u306f'), ('C', '\u304c'), ('X', '\u884c'), ('X', '\u5217'), ('X', '\u6b65'), ('X', '\u5dee'), ('X', '\u503c'), ('X', '\u6570'), ('X', '\u4e2a'), ('X', '\u500b'), ('X', '\u9879'), ('X', '\u9805'), ('X', '\u500d'), ('X', '\u6b21')]
AFTER_NUMBER: Final = ['\u3067\u3059', '\u3060', '\u3067', '\uc785', '\ubc88', '\uc774', '\uac00', '\u3092', '\u3068', '\u306f', '\u304c', '\u306e']
NUMERALS: Final = '\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d'
HAN: Final = '\u4e00\u9fff'
COUNTERS: Final = '\u4e2a\u500b\u9879\u9805'
BEHIND_ITEM: Final = '\u662f\u4e3a\u70ba\u4e0d\u6b63\u7b26\u6700\u624d\u5c31\u90fd\u4e5f\u7684\u548c\u6216\u4e0e\u53ca\u9762\u6ee1\u5b8c'
ITEMS: Final = ['\u9009\u9879', '\u9078\u9805', '\u7b54\u6848']
UNSURE: Final = ['<', '?', '~', '\xac', '\u2260', '\u2611', '\u2705', '\u2713', '\u2714', '\u2716', '\u2717', '\u2718', '\u274c', '\u274e', '\uff1f', '\U0001f3af', '\U0001f6ab']
"""Tokens of signs and of other scripts, what may follow a number, and signs of doubt."""
SKIM_NOUNS: Final = ['answer', 'choice', 'option']
SKIM_NUMBER_WORDS: Final = ['eight', 'eighth', 'fifth', 'first', 'five', 'four', 'fourth', 'nine', 'ninth', 'one', 'second', 'seven', 'seventh', 'six', 'sixth', 'third', 'three', 'two']
SKIM_ORDINALS: Final = ['eighth', 'fifth', 'first', 'fourth', 'ninth', 'second', 'seventh', 'sixth', 'third']
SKIM_BEFORE_A_WORD: Final = ['and', 'as', 'at', 'by', 'each', 'first', 'for', 'from', 'in', 'last', 'no', 'of', 'that', 'this', 'to', 'with']
SKIM_PANELS: Final = ['panel', 'panels']
SKIM_COPULAS: Final = ['=', 'are', 'be', 'is']
SKIM_PLACES: Final = ['8', '9', 'eighth', 'ninth']
SKIM_UNSURE_WORDS: Final = ['actually', 'but', 'however', 'if', 'never', 'no', 'not', 'nothing', 'or', 'wait']
SKIM_NOT_GIVEN: Final = ['answer', 'be', 'best', 'choose', 'correct', 'final', 'go', 'index', 'is', 'missing', 'next', 'pick', 'right', 'select', 'take']
"""What `relfast.tasks.rel_a.skim` knows of words."""
