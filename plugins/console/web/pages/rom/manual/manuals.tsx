import book from 'lucide/dist/esm/icons/book-open.mjs'
import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { addressOf } from '../../../base.ts'
import { texts } from '../../../i18n/language.ts'
import { Button, LinkButton } from '../../../ui/button.tsx'
import { tellFailure } from '../../../ui/toast.tsx'
import type { DetailedRom } from '../rom-data.ts'
import { Section } from '../section.tsx'
import { type ManualFile, listManuals } from './manual-list.ts'

interface ViewerProps { title: string, address: string, onClose: () => void }

/** A PDF that opens within the page. The viewer loads when somebody opens one. */
function PdfButton ({ manual, label, title }: { manual: ManualFile, label: string, title: string }) {
  const [Viewer, setViewer] = useState<ComponentType<ViewerProps> | null>(null)
  const [isBusy, setBusy] = useState(false)
  function open (): void {
    setBusy(true)
    import('./manual-viewer.tsx').then(({ default: component }) => { setViewer(() => component) }).catch(tellFailure)
      .finally(() => { setBusy(false) })
  }
  return (
    <>
      <Button icon={book} isBusy={isBusy} onClick={open}>{label}</Button>
      {Viewer !== null && (
        <Viewer title={title} address={addressOf(manual.address)} onClose={() => { setViewer(null) }} />
      )}
    </>
  )
}

/** The manuals of a game. */
export function Manuals ({ rom }: { rom: DetailedRom }) {
  const { media: words } = texts().rom
  const manuals = listManuals(rom)
  if (manuals.length === 0) return null
  return (
    <Section title={words.manual}>
      <div class='cluster'>
        {manuals.map((manual) => {
          const label = manual.name === '' ? words.openManual : manual.name
          return manual.isPdf
            ? <PdfButton key={manual.address} manual={manual} label={label} title={manual.name === '' ? words.manual : manual.name} />
            : <LinkButton key={manual.address} icon={book} target='_blank' rel='noreferrer' href={manual.address}>{label}</LinkButton>
        })}
      </div>
    </Section>
  )
}
