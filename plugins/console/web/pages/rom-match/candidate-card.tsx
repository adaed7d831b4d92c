import { format, texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/state.tsx'
import { providerName } from '../rom/provider-names.ts'
import { isFields } from '../../read-fields.ts'
import type { DetailedRom } from '../rom/rom-data.ts'
import type { Candidate } from './candidates.ts'
import { RemoteCover } from './remote-cover.tsx'

const scoreKind = (score: number) => (score >= 0.9 ? 'success' : score >= 0.6 ? 'warning' : undefined)

/** True if a ROM already has one of the ids of a candidate. */
function isCurrent ({ ids }: Candidate, rom: DetailedRom): boolean {
  const fields: unknown = rom
  return (
    isFields(fields) &&
    ids.some(({ provider, id }) => fields[`${provider}_id`] != null && String(fields[`${provider}_id`]) === id)
  )
}

/** A game that providers offer for a ROM. */
export function CandidateCard ({
  candidate,
  rom,
  isBusy,
  onChoose
}: {
  candidate: Candidate
  rom: DetailedRom
  isBusy: boolean
  onChoose: () => void
}) {
  const { match: words } = texts().rom
  const { name, year, cover, summary, score, ids } = candidate
  return (
    <li class='candidate'>
      <RemoteCover name={name} url={cover} />
      <div class='candidate-text'>
        <h3>
          {name}
          {year !== null && <span class='soft number'> · {year}</span>}
        </h3>
        <p class='cluster'>
          <Badge kind={scoreKind(score)}>{words.alike(format().percent(score))}</Badge>
          {ids.map(({ provider }) => <Badge key={provider}>{providerName(provider)}</Badge>)}
        </p>
        {summary !== '' && <p class='candidate-summary soft'>{summary}</p>}
        <div>
          {isCurrent(candidate, rom)
            ? <Badge kind='accent'>{words.current}</Badge>
            : (
              <Button isSmall isBusy={isBusy} aria-label={words.chooseLabel(name)} onClick={onChoose}>
                {words.choose}
              </Button>
              )}
        </div>
      </div>
    </li>
  )
}
