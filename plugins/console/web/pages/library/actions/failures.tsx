import { useEffect, useState } from 'preact/hooks'
import { texts } from '../../../i18n/language.ts'
import { nameOf } from '../../../ui/cover.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import type { BulkOutcome } from '../bulk.ts'
import { loadRoms } from './operations.ts'

const SHOWN = 100

interface FailuresProps { failed: BulkOutcome['failed'], onClose: () => void }

/** Lists the ROMs with which something did not work, each with the server's reason. */
export function Failures ({ failed, onClose }: FailuresProps) {
  const { list } = texts()
  const [names, setNames] = useState<ReadonlyMap<number, string>>(new Map())
  useEffect(() => {
    loadRoms(failed.slice(0, SHOWN).map(({ id }) => id))
      .then((roms) => { setNames(new Map(roms.map((rom) => [rom.id, nameOf(rom)]))) })
      .catch(() => {})
  }, [failed])
  return (
    <Dialog title={list.failedSome(failed.length)} isOpen onClose={onClose}>
      <div class='stack'>
        <p class='soft'>{list.failedText}</p>
        <ul class='failures'>
          {failed.slice(0, SHOWN).map(({ id, reason }) => <li key={id}><strong>{names.get(id) ?? `#${id}`}</strong><span class='soft'>{reason}</span></li>)}
        </ul>
      </div>
    </Dialog>
  )
}
