import { useState } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Cover, nameOf } from '../../ui/cover.tsx'
import { LockMark } from './lock-mark.tsx'
import type { DetailedRom } from '../rom/rom-data.ts'
import { CoverDialog } from './cover-dialog.tsx'
import type { CoverChoice } from './cover-choice.ts'

interface CoverFieldProps {
  rom: DetailedRom
  cover: CoverChoice
  isLocked: boolean
  onChoose: (cover: CoverChoice) => void
}

interface PreviewProps extends Pick<CoverFieldProps, 'rom' | 'cover'> { onBroken: () => void }

function Preview ({ rom, cover, onBroken }: PreviewProps) {
  if (cover.kind === 'url' || cover.kind === 'file') {
    return (
      <span class='cover'><img src={cover.preview} alt={texts().rom.cover.preview} onError={onBroken} /></span>
    )
  }
  const without = { path_cover_small: '', path_cover_large: '' }
  return (
    <Cover
      rom={{ ...rom, ...(cover.kind === 'remove' ? without : {}), sibling_roms: [], missing_from_fs: false }}
      isLarge
    />
  )
}

/** The cover of the form, as it will be after saving. */
export function CoverField ({ rom, cover, isLocked, onChoose }: CoverFieldProps) {
  const { cover: words } = texts().rom
  const [isOpen, setOpen] = useState(false)
  const [broken, setBroken] = useState<CoverChoice | null>(null)
  const problem = cover.kind === 'file' ? words.notPicture : words.broken
  const chosen = broken === cover ? problem : words.chosen
  const note =
    cover.kind === 'remove' ? words.removed : cover.kind === 'none' || cover.kind === 'unlock' ? '' : chosen
  return (
    <div class='cover-field'>
      <Preview rom={rom} cover={cover} onBroken={() => { setBroken(cover) }} />
      <Button isWide onClick={() => { setOpen(true) }}>{words.choose}</Button>
      {cover.kind === 'none'
        ? (
            rom.path_cover_large !== '' && (
              <Button kind='quiet' isWide onClick={() => { onChoose({ kind: 'remove' }) }}>{words.remove}</Button>
            )
          )
        : <Button kind='quiet' isWide onClick={() => { onChoose({ kind: 'none' }) }}>{words.reset}</Button>}
      <p class='field-hint' role='status'>{note}</p>
      {isLocked && (cover.kind === 'none' || cover.kind === 'unlock') && (
        <LockMark
          label={texts().rom.edit.cover}
          isUnlocked={cover.kind === 'unlock'}
          onToggle={() => { onChoose(cover.kind === 'unlock' ? { kind: 'none' } : { kind: 'unlock' }) }}
        />
      )}
      <CoverDialog
        romId={rom.id}
        name={nameOf(rom)}
        isOpen={isOpen}
        onClose={() => { setOpen(false) }}
        onChoose={onChoose}
      />
    </div>
  )
}
