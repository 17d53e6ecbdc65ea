"""Everyday English words that mean nearly the same: who asks says "buy" where a document says "purchase".

Words of trade, law and daily life alone. Technical terms have one exact name each and stand in no group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache

from roamtui.search.stem import stem

_GROUPS = """
acquisition merger takeover
agreement contract
aim goal objective purpose
airplane flight plane
airport flight
alcohol bar beer beverage drink wine
allow authorize entitle permit
alter amend change modify
amendment change modification
animal cat dog pet
annual year yearly
answer reply respond
approval approve consent permission
arbitration controversy disagreement dispute
area region territory
arms firearm gun weapon
asset belonging property
assign convey transfer
assist assistance help
attorney counsel lawyer
audit examine inspect inspection
baby infant
bag baggage luggage suitcase
ballot election vote
ban forbid prohibit prohibition restrict restriction
bankrupt bankruptcy insolvency insolvent
bathroom lavatory restroom toilet
begin commence start
belong own owner ownership title
bill invoice
board director officer
book booking reservation reserve
book ledger record
brand logo mark trademark
breach infringe violate violation
buy order procure purchase
buyer purchaser
cab taxi
cancel cease conclude discontinue end finish stop terminate
cap ceiling limit maximum
car vehicle
cash money
cause reason
charge cost fee price rate
cheap inexpensive
child kid
cigarette smoke tobacco
clean cleaning housekeeping
client customer
clinic hospital
close near nearby
coin currency
commitment duty obligation responsibility
common joint mutual shared
company corporation enterprise firm
compensation pay remuneration salary wage
compete competition competitor rival
complimentary free
confidential secret
consequence outcome result
costly expensive
country nation territory
court judge tribunal
coverage insurance insure
credit debt loan
crime offence offense
cure fix remedy repair
damage harm injury loss
danger hazard risk
date day
dead death deceased die
deadline due
decline refuse reject
decrease lower reduce
defect fault flaw
deliver delivery ship shipment
depart departure leave
holiday leave vacation
expense spend
journey travel trip
steal stolen theft thief
dining restaurant
dinner food lunch meal
disability disabled handicap wheelchair
discount rebate
disease ill illness sick
divide share split
doctor physician
drug medication medicine
duration length period term
duty tariff tax
dwelling home house residence
earnings income proceeds profit revenue royalty
elevator lift
employ hire recruit
employee personnel staff worker
end expiration expire expiry
equity share stock
error mistake
exceed surpass
exclusive sole
exercise fitness gym workout
extend extension prolong renew renewal
fine penalty
forever irrevocable permanent perpetual
garage parking
get obtain receive
give grant provide
guarantee warrant warranty
guest visitor
heir inherit inheritance
hold keep retain
hour time
husband marriage married spouse wife
increase raise
indoor inside
inform notice notify
internet wifi wireless
invent invention patent
job occupation profession
landlord lease rent tenant
law legislation statute
lawsuit litigation sue suit
least minimum
liability liable responsible
licence license
loud noise quiet
must require requirement
outdoor outside patio terrace
pay payment remit
phone telephone
pool swim swimming
railway train
refund reimburse reimbursement repay
sale sell
seller supplier vendor
shareholder stockholder
shop store
television tv
vegan vegetarian
"""


def find_synonyms(words: Iterable[str]) -> tuple[str, ...]:
    """Return words that mean nearly the same as some of `words`, folded and sorted, none of these among them."""
    stems = {stem(word) for word in words}
    found = {other for word_stem in stems for other in _list_by_stem().get(word_stem, ())}
    return tuple(sorted(other for other in found if stem(other) not in stems))


@cache
def _list_by_stem() -> Mapping[str, frozenset[str]]:
    """Return the words of the groups that hold a stem, by that stem."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in _GROUPS.splitlines():
        for word in group.split():
            found[stem(word)].update(group.split())
    return {word_stem: frozenset(words) for word_stem, words in found.items()}
