import lock from 'lucide/dist/esm/icons/lock.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { holds } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Loaded, Skeleton } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { providerName } from './provider-names.ts'
import { Section } from './section.tsx'
import { type SourceRow, listSources, readProviderLock } from './source-list.ts'
import { type DetailedRom, showRom, useSources } from './rom-data.ts'

type Lookup = components['schemas']['RomLookup']

/** Returns the name of a field for people; a field of a plugin keeps its own. */
export function fieldName (field: string): string {
  const { metadata: words } = texts().rom
  const provider = readProviderLock(field)
  if (provider !== null) {
    return provider.isRecord
      ? words.recordOf(providerName(provider.provider))
      : words.idOf(providerName(provider.provider))
  }
  const names: Readonly<Record<string, string>> = words.fields
  return names[field] ?? field.replaceAll('_', ' ')
}

function Source ({ romId, row: { field, providers, lock: name } }: { romId: number, row: SourceRow }) {
  const { metadata: words } = texts().rom
  const [isBusy, setBusy] = useState(false)
  const label = fieldName(field)
  const unlock = (locked: string) => () => {
    setBusy(true)
    call(api.PUT('/api/roms/{id}', { params: { path: { id: romId }, query: { unlock: [locked] } }, body: {} }))
      .then((rom) => {
        showRom(rom)
        tellSuccess(words.unlocked(label))
      })
      .catch(tellFailure)
      .finally(() => { setBusy(false) })
  }
  const from = providers.map(providerName).join(', ') || words.byFile
  return (
    <li class='rom-row'>
      <span class='rom-row-text'>
        <strong>{label}</strong>
        <span class='faint'>{name === null ? from : words.byPerson}</span>
      </span>
      {name !== null && (
        <Badge kind='accent'>
          <Icon node={lock} />
          {words.locked}
        </Badge>
      )}
      {name !== null && holds('roms.write') && (
        <Button isSmall isBusy={isBusy} aria-label={words.unlock(label)} onClick={unlock(name)}>
          {texts().rom.edit.unlock}
        </Button>
      )}
    </li>
  )
}

/** Tells how a provider was asked about a game, and why it matches or not. */
export function LookupRow ({ lookup, action }: { lookup: Lookup, action?: preact.ComponentChildren }) {
  const { metadata: words } = texts().rom
  const { provider, provider_id: id, score, method, reason, name, problem, at } = lookup
  const why = method === 'person' ? words.person : words.reasons[reason]
  return (
    <li class='rom-row' data-off={id === null ? '' : undefined}>
      <span class='rom-row-text'>
        <strong>
          {providerName(provider)}
          {name !== null && id !== null && <span class='soft'> · {name}</span>}
        </strong>
        <span class='faint'>
          {[why, problem ?? '', at === null ? '' : format().ago(at)].filter(Boolean).join(' · ')}
        </span>
      </span>
      {score !== null && id !== null && (
        <Badge kind={score >= 0.9 ? 'success' : 'warning'}>{words.score(format().percent(score))}</Badge>
      )}
      {action}
    </li>
  )
}

/** Which provider gave which value, which values are locked, and why the game was matched. */
export function Metadata ({ rom }: { rom: DetailedRom }) {
  const { metadata: words } = texts().rom
  return (
    <Loaded resource={useSources(rom.id)} skeleton={<Skeleton height='24rem' />}>
      {(sources) => (
        <div class='rom-overview'>
          <Section title={words.matches}>
            <p class='soft'>{sources.lookups.length === 0 ? words.none : words.matchesHint}</p>
            <ul class='rom-rows'>
              {sources.lookups
                .toSorted((a, b) => Number(b.provider_id !== null) - Number(a.provider_id !== null))
                .map((lookup) => <LookupRow key={lookup.provider} lookup={lookup} />)}
            </ul>
          </Section>
          {listSources(sources).length > 0 && (
            <Section title={words.values}>
              <p class='soft'>{words.valuesHint}</p>
              <ul class='rom-rows rom-dense'>
                {listSources(sources).map((row) => <Source key={row.field} romId={rom.id} row={row} />)}
              </ul>
            </Section>
          )}
        </div>
      )}
    </Loaded>
  )
}
