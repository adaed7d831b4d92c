import { type Fields, readFields, readId, readText, toFieldsList, unique } from '@svc/plugin-sdk/readers'

/** Pouët's ranks for disqualified, unranked and hidden results. */
const NO_RANKS = new Set([97, 98, 99])

/** Lists the placings, such as `Harbor Party 1993 / c64 demo #1`. */
export function listPartyLines (production: Fields): string[] {
  const { party, party_year: year, party_compo_name: competition, party_place: ranking } = production
  const lines = unique(toFieldsList(production.placings).map(toLine))
  return lines.length > 0 ? lines : unique([toLine({ party, year, compo_name: competition, ranking })])
}

function toLine (placing: Fields): string | undefined {
  const party = readText(readFields(placing, 'party') ?? {}, 'name')
  if (party === undefined) return undefined
  const rank = readId(placing, 'ranking')
  const event = [party, readId(placing, 'year')].filter(Boolean).join(' ')
  const line = [event, readText(placing, 'compo_name')].filter(Boolean).join(' / ')
  return rank === undefined || NO_RANKS.has(rank) ? line : `${line} #${rank}`
}
