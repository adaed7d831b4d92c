import type { RomLookup } from '../../matching/views.ts'

type Step = RomLookup['steps'][number]
type SearchStep = Extract<Step, { by: 'search' }>

const REASONS: Readonly<Record<RomLookup['reason'], string>> = {
  id_known: 'the provider knows this id',
  id_not_checked: 'another provider gave this id, which was not verified at this provider',
  hash_known: 'the provider knows the file',
  best_candidate: 'the best candidate is similar enough',
  sidecar_entry: 'the file beside the ROMs lists the game',
  unexplained: 'the provider did not report how it found the game',
  id_unknown: 'the provider does not know this id',
  hash_unknown: 'the provider does not know the file',
  no_candidate: 'the search found no candidate',
  score_too_low: 'no candidate is similar enough',
  candidate_refused: 'the provider refused the best candidate, for example because it is not a game',
  no_sidecar_entry: 'the file beside the ROMs does not list the game',
  unknown: 'the provider does not know the ROM',
  nothing_to_ask: 'there is no id to look up, and the provider has no search',
  not_needed: 'the provider looks up only other ROMs: either identified or unidentified ones',
  failed: 'the lookup failed',
  not_recorded: 'the match was stored before lookups were recorded; scan the ROM again with --type complete'
}
const ORIGINS = {
  tag: 'in the tag of the file name', link: 'that another provider gave', stored: 'of the stored match', person: 'that a person chose'
} as const

/** Rounds down, so that a score below a threshold never shows as equal to it. */
const toScore = (score: number) => (Math.floor(score * 100) / 100).toFixed(2)

function describeSearch ({ term, threshold, count, candidates }: SearchStep): string {
  const scores = candidates.flatMap(({ score }) => score ?? [])
  const best = scores.length === 0 ? null : Math.max(...scores)
  const found = `${count} candidate${count === 1 ? '' : 's'}`
  const verdict = best === null
    ? ''
    : `, best ${toScore(best)} ${best < threshold ? 'below' : 'reaches'} ${toScore(threshold)}`
  return `by name "${term}": ${found}${verdict}`
}

function describeStep (step: Step): string {
  switch (step.by) {
    case 'id': return `by the id ${step.id} ${step.provider === undefined ? ORIGINS[step.from] : `that ${step.provider} gave`}`
    case 'hash': return `by hash (${step.hashes.join(', ') || 'none known'})`
    case 'sidecar': return `in ${step.path}`
    case 'search': return describeSearch(step)
  }
}

const listCandidates = (step: Step): string[] => step.by !== 'search'
  ? []
  : step.candidates.map(({ name, score }) => `      ${score === null ? 'other number' : toScore(score)} ${name}\n`)

/** True for a lookup that gave a match. */
export const isMatch = ({ method, reason }: RomLookup): boolean => method !== null || reason === 'not_recorded'

/** Describes one lookup in words, on several lines. */
export function describeLookup (lookup: RomLookup): string {
  const { provider, provider_id: id, score, reason, steps, problem, at } = lookup
  const game = id === null ? 'ids of other providers' : `game ${id}`
  const certainty = score === null ? '' : `, score ${toScore(score)}`
  const head = `  ${provider}: ${isMatch(lookup) ? `${game}${certainty}` : 'no game'}, because ${REASONS[reason]}` +
    `${problem === undefined ? '' : `: ${problem}`}${at === null ? '' : ` (${at})`}\n`
  return [head, ...steps.flatMap((step) => [`    looked up ${describeStep(step)}\n`, ...listCandidates(step)])].join('')
}
