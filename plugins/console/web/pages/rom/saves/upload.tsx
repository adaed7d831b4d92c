import upload from 'lucide/dist/esm/icons/upload.mjs'
import { useRef, useState } from 'preact/hooks'
import { toFailure } from '../../../api/failure.ts'
import { texts } from '../../../i18n/language.ts'
import { Button } from '../../../ui/button.tsx'
import { tellFailure, tellSuccess } from '../../../ui/toast.tsx'
import { uploadAsset } from './asset-calls.ts'
import type { Kind } from './timeline.ts'

/** Extensions of states of emulators; all other files are saves. */
const STATE = /\.(?:state\d*|state\.auto|ss\d|st\d|mst|oops|savestate|sgm|p2s)$/i

const kindOf = (name: string): Kind => STATE.test(name) ? 'state' : 'save'

/** Stores files that a person chooses or drops. */
export function UploadSave ({ romId, onChange }: { romId: number, onChange: () => Promise<void> }) {
  const { saves: words } = texts().rom
  const input = useRef<HTMLInputElement>(null)
  const [isBusy, setBusy] = useState(false)

  /** Stores one file after the other. A refusal names its file, and the next files follow. */
  async function send (files: readonly File[]): Promise<void> {
    for (const file of files) {
      try {
        await uploadAsset(romId, { kind: kindOf(file.name), name: file.name, content: file })
        tellSuccess(words.uploaded(file.name))
      } catch (err) {
        tellFailure(new Error(words.notUploaded(file.name, toFailure(err).message)))
      }
    }
  }
  const start = (list: FileList | null | undefined) => {
    const files = [...list ?? []]
    if (files.length === 0) return
    setBusy(true)
    void send(files).then(() => { setBusy(false); return onChange() })
  }
  return (
    <div
      class='save-upload' onDragOver={(event) => { event.preventDefault() }}
      onDrop={(event) => { event.preventDefault(); start(event.dataTransfer?.files) }}
    >
      <p class='faint'>{words.uploadHint}</p>
      <Button icon={upload} isBusy={isBusy} onClick={() => { input.current?.click() }}>{words.upload}</Button>
      <input
        ref={input} type='file' multiple hidden aria-label={words.upload}
        onChange={({ currentTarget }) => { start(currentTarget.files); currentTarget.value = '' }}
      />
    </div>
  )
}
