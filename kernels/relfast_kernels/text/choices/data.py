# ruff: noqa: E501
# fmt: off
"""Made by ``python tests/pattern_sources.py`` from the tables of REL-A's ``strict`` extractor; not to be edited."""

from __future__ import annotations

from typing import Final

(
    SET_PREPOSITION, SET_INDEX, SET_FOR_BY, SET_BOXED, SET_NUMBER_OF, SET_VERSUS, SET_BEGINS,
    SET_ANSWERS, SET_WITHIN, SET_BEST, SET_RIGHT, SET_IT, SET_AS, SET_AS_WELL, SET_THROUGH, SET_NOR,
    SET_OUTPUT, SET_MINE, SET_NUMBER, SET_ANY_OTHER, SET_FINAL, SET_ONE,
) = (1 << bit for bit in range(22))
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
        'alternativa ans answer antwort candidate candidates cevap choice choices chosen l\xf6sung opci\xf3n '
        'option options possibility prediction response resposta respuesta risposta r\xe9ponse selection '
        'yan\u0131t \u0432\u0430\u0440\u0438\u0430\u043d\u0442 \u0432\u044b\u0431\u043e\u0440 \u0627\u0644\u0625\u062c\u0627\u0628\u0629 \u0627\u0644\u062c\u0648\u0627\u0628 \u0909\u0924\u094d\u0924\u0930 '
    ),
    ('A', 0, False, 0, True, False): (
        'opt '
    ),
    ('A', 0, False, 128, False, False): (
        'answers '
    ),
    ('A', 0, False, 136, False, False): (
        'boxed '
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
        'are be being est is ist jest sei was were \xe8 \xe9 '
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
        'correct correcta correcte correcto correta falta fehlende manquant missing proper richtig '
        'richtige right true '
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
    ('W', 0, False, 261, False, True): (
        'by '
    ),
    ('W', 0, False, 4352, True, True): (
        'as '
    ),
    ('W', 0, False, 5, False, True): (
        'for '
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
SCRIPTS: Final = [('N', '\u5e76\u4e0d\u662f'), ('N', '\u4e0d\u662f'), ('N', '\u5e76\u975e'), ('N', '\u4e0d'), ('N', '\u3067\u306f\u3042\u308a\u307e\u305b\u3093'), ('N', '\u3067\u306f\u306a\u3044'), ('N', '\u3058\u3083\u306a\u3044'), ('N', '\uc544\ub2c8'), ('T', '\u800c\u662f'), ('T', '\u4f46\u662f'), ('T', '\u4f46'), ('S', '\u56e0\u6b64'), ('S', '\u6240\u4ee5'), ('S', '\u6545'), ('U', '\u6216\u8005'), ('U', '\u6216'), ('K', '\u548c'), ('K', '\u3068'), ('A', '\u7b54\u6848'), ('A', '\u9009\u9879'), ('A', '\u9078\u9805'), ('A', '\u7b54\u3048'), ('A', '\u6b63\u89e3'), ('A', '\uc815\ub2f5'), ('A', '\ub2f5'), ('P', '\u9762\u677f'), ('P', '\u30d1\u30cd\u30eb'), ('Q', '\u6b63\u786e'), ('Q', '\u6b63\u78ba'), ('Q', '\u6700\u7ec8'), ('Q', '\u7f3a\u5931'), ('F', '\u7684'), ('F', '\uc740'), ('F', '\ub294'), ('F', '\uc785\ub2c8\ub2e4'), ('F', '\u3067\u3059'), ('F', '\ubc88'), ('F', '\u53f7'), ('C', '\u662f'), ('C', '\u4e3a'), ('C', '\u70ba'), ('C', '\u306f')]
AFTER_NUMBER: Final = ['\u3067\u3059', '\u3060', '\u3067', '\uc785', '\ubc88', '\uc774', '\u306f', '\u304c', '\u306e', '\u53f7', '\u4e2a']
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
