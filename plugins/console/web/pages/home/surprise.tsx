import dices from 'lucide/dist/esm/icons/dices.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { texts } from '../../i18n/language.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Cover, type Rom, nameOf } from '../../ui/cover.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { tellFailure } from '../../ui/toast.tsx'

/** Picks a ROM at random and shows it, until one appeals. */
export function Surprise () {
  const { home } = texts()
  const [rom, setRom] = useState<Rom | null>(null)
  const [isBusy, setBusy] = useState(false)
  function pick (): void {
    setBusy(true)
    call(api.GET('/api/roms/random')).then(setRom).catch(tellFailure).finally(() => { setBusy(false) })
  }
  return (
    <>
      <Button icon={dices} isBusy={isBusy && rom === null} onClick={pick}>{home.surprise}</Button>
      {rom !== null && (
        <Dialog
          title={home.random} isOpen onClose={() => { setRom(null) }}
          foot={(
            <>
              <Button icon={dices} isBusy={isBusy} onClick={pick}>{home.another}</Button>
              <LinkButton kind='primary' href={`roms/${rom.id}`}>{home.view}</LinkButton>
            </>
          )}
        >
          <div class='surprise' aria-live='polite'>
            <Cover key={rom.id} rom={{ ...rom, sibling_roms: [] }} isLarge />
            <div class='surprise-text'>
              <h3>{nameOf(rom)}</h3>
              <p class='faint'>{rom.platform_display_name}</p>
              {rom.summary !== null && <p class='soft surprise-summary'>{rom.summary}</p>}
            </div>
          </div>
        </Dialog>
      )}
    </>
  )
}
