import split from 'lucide/dist/esm/icons/git-fork.mjs'
import { useState } from 'preact/hooks'
import { format, texts } from '../../../i18n/language.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Badge } from '../../../ui/state.tsx'
import { tellFailure, tellSuccess } from '../../../ui/toast.tsx'
import { resolveConflict } from './asset-calls.ts'
import { keepCopy, keepOriginal } from './resolve-conflict.ts'
import { Thumbnail } from './thumbnail.tsx'
import type { Asset, Conflict } from './timeline.ts'

interface SideProps {
  title: string
  asset: Asset
  isNewer: boolean
  isBusy: boolean
  onKeep: () => void
}

function Side ({ title, asset, isNewer, isBusy, onKeep }: SideProps) {
  const { conflict: words } = texts().rom.saves
  const { dateTime, bytes } = format()
  return (
    <div class='conflict-side'>
      <Thumbnail picture={asset.picture} />
      <div class='conflict-text'>
        <h3>{title} {isNewer && <Badge kind='accent'>{words.newer}</Badge>}</h3>
        <p class='faint'>{dateTime(asset.updated_at)} · {bytes(asset.file_size_bytes)}</p>
      </div>
      <Button isBusy={isBusy} aria-label={words.keepThisLabel(title)} onClick={onKeep}>{words.keepThis}</Button>
    </div>
  )
}

interface ConflictProps {
  conflict: Conflict
  /** The name of the other device; null if it is unknown. */
  device: string | null
  /** Ends after the list has loaded again. */
  onChange: () => Promise<void>
}

/** Both contents of a file that two devices changed, side by side. */
export function ConflictCard ({ conflict, device, onChange }: ConflictProps) {
  const { actions, saves: { conflict: words } } = texts().rom
  const [isBusy, setBusy] = useState(false)
  const { original, copy } = conflict
  const run = (work: Promise<unknown>) => {
    setBusy(true)
    void work.catch(tellFailure).then(onChange).finally(() => { setBusy(false) })
  }
  const keep = (choice: Promise<() => Promise<void>>) => {
    run(
      choice.then((undo) => {
        tellSuccess(words.kept, {
          label: actions.undo,
          run: () => { run(undo()) }
        })
      })
    )
  }
  const other = device === null ? words.otherDevice : words.device(device)
  return (
    <section class='conflict'>
      <div class='conflict-head'>
        <Icon node={split} />
        <div>
          <h2>{words.title(original.file_name)}</h2>
          <p class='soft'>{words.text}</p>
        </div>
      </div>
      <div class='conflict-sides'>
        <Side
          title={words.server}
          asset={original}
          isBusy={isBusy}
          isNewer={original.updated_at > copy.updated_at}
          onKeep={() => { keep(keepOriginal(conflict)) }}
        />
        <Side
          title={other}
          asset={copy}
          isBusy={isBusy}
          isNewer={copy.updated_at > original.updated_at}
          onKeep={() => { keep(keepCopy(conflict)) }}
        />
      </div>
      <div class='conflict-foot'>
        <Button
          kind='primary'
          isBusy={isBusy}
          onClick={() => {
            run(
              resolveConflict(copy, 'both').then(() => { tellSuccess(words.keptBoth) })
            )
          }}
        >
          {words.keepBoth}
        </Button>
      </div>
    </section>
  )
}
