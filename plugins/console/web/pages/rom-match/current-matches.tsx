import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { nameOf } from '../../ui/cover.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Skeleton } from '../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { LookupRow } from '../rom/metadata.tsx'
import { providerName } from '../rom/provider-names.ts'
import { type DetailedRom, showRom, useSources } from '../rom/rom-data.ts'

/** Refuses the match of one provider; scans keep that. */
function NotThis ({ rom, provider, id }: { rom: DetailedRom, provider: string, id: string }) {
  const { actions, match: words } = texts().rom
  const [isBusy, setBusy] = useState(false)
  const store = async (value: string) => {
    showRom(
      await call(api.PUT('/api/roms/{id}', { params: { path: { id: rom.id } }, body: { [`${provider}_id`]: value } }))
    )
  }
  const refuse = () => {
    setBusy(true)
    store('')
      .then(() => {
        tellSuccess(words.refused(providerName(provider)), {
          label: actions.undo,
          run: () => { store(id).catch(tellFailure) }
        })
      })
      .catch(tellFailure)
      .finally(() => { setBusy(false) })
  }
  return (
    <Button isSmall isBusy={isBusy} aria-label={words.notThisLabel(providerName(provider))} onClick={refuse}>
      {words.notThis}
    </Button>
  )
}

function Unmatch ({ rom }: { rom: DetailedRom }) {
  const { match: words } = texts().rom
  const [isOpen, setOpen] = useState(false)
  const unmatch = async () => {
    showRom(
      await call(
        api.PUT('/api/roms/{id}', { params: { path: { id: rom.id }, query: { unmatch_metadata: true } }, body: {} })
      )
    )
    tellSuccess(words.unmatched)
  }
  return (
    <>
      <Button kind='danger' isSmall onClick={() => { setOpen(true) }}>{words.unmatch}</Button>
      <Confirm
        title={words.unmatchTitle(nameOf(rom))}
        text={words.unmatchText}
        action={words.unmatch}
        isOpen={isOpen}
        onClose={() => { setOpen(false) }}
        onConfirm={unmatch}
      />
    </>
  )
}

/** The present matches of a ROM with their reasons, and ways to refuse them. */
export function CurrentMatches ({ rom }: { rom: DetailedRom }) {
  const { match: words } = texts().rom
  const { data: { value: sources } } = useSources(rom.id)
  const matches = sources?.lookups.filter(({ provider_id: id }) => id !== null) ?? []
  if (sources === undefined && rom.is_identified) return <Skeleton height='9rem' />
  if (matches.length === 0) return null
  return (
    <section class='rom-section'>
      <div class='rom-section-head'>
        <h2>{words.currentTitle}</h2>
        <Unmatch rom={rom} />
      </div>
      <ul class='rom-rows'>
        {matches.map((lookup) => (
          <LookupRow
            key={lookup.provider}
            lookup={lookup}
            action={<NotThis rom={rom} provider={lookup.provider} id={lookup.provider_id ?? ''} />}
          />
        ))}
      </ul>
    </section>
  )
}
