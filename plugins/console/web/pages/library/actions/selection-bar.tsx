import bookmark from 'lucide/dist/esm/icons/bookmark.mjs'
import download from 'lucide/dist/esm/icons/download.mjs'
import ellipsis from 'lucide/dist/esm/icons/ellipsis.mjs'
import eyeOff from 'lucide/dist/esm/icons/eye-off.mjs'
import eye from 'lucide/dist/esm/icons/eye.mjs'
import folderPlus from 'lucide/dist/esm/icons/folder-plus.mjs'
import folderMinus from 'lucide/dist/esm/icons/folder-minus.mjs'
import heart from 'lucide/dist/esm/icons/heart.mjs'
import refresh from 'lucide/dist/esm/icons/refresh-cw.mjs'
import checks from 'lucide/dist/esm/icons/square-check-big.mjs'
import trashIcon from 'lucide/dist/esm/icons/trash.mjs'
import wand from 'lucide/dist/esm/icons/wand-sparkles.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Collection } from '../../../api/collections.ts'
import { useActions } from '../../../api/permissions.ts'
import { holds } from '../../../api/session.ts'
import { addressOf } from '../../../base.ts'
import { format, texts } from '../../../i18n/language.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { nameOf } from '../../../ui/cover.tsx'
import { useMedia } from '../../../ui/media.ts'
import { type MenuEntry, Menu } from '../../../ui/menu.tsx'
import { tellFailure } from '../../../ui/toast.tsx'
import type { BulkOutcome } from '../bulk.ts'
import { CollectDialog } from './collect-dialog.tsx'
import { Failures } from './failures.tsx'
import { MarksDialog } from './marks-dialog.tsx'
import { type Marks, addFavorites, loadRoms, mark, scan, trash, uncollect } from './operations.ts'
import { Question } from './question.tsx'

/** Addresses of requests are limited to 16 KiB by Node, so a zip names at most so many ROMs. */
const ZIP_MAX = 1_500
const NAMED = 3

type Open = 'collect' | 'marks' | 'trash' | 'rematch' | null

interface SelectionBarProps {
  ids: readonly number[]
  count: number
  /** The plain collection of the account whose ROMs are listed. */
  collection?: Collection | undefined
  onAll: () => void
  onEnd: () => void
  /** Called when the bar, which has the focus, leaves the page. */
  onLeave: () => void
}

interface QuestionsProps {
  open: Open
  count: number
  /** The names of some of the ROMs; empty until they are loaded. */
  names: string
  onClose: () => void
  onTrash: () => void
  onRematch: () => void
}

/** The questions before a change that is not undone by one click. */
function Questions ({ open, count, names, onClose, onTrash, onRematch }: QuestionsProps) {
  const { trashDialog, rematchDialog } = texts().list
  if (open === 'trash') {
    return (
      <Question
        title={trashDialog.title(count)} submit={trashDialog.submit} isDanger onClose={onClose} onConfirm={onTrash}
      >
        {names !== '' && <p>{trashDialog.named(names)}</p>}
        <p class='soft'>{trashDialog.text}</p>
      </Question>
    )
  }
  if (open !== 'rematch') return null
  return (
    <Question title={rematchDialog.title(count)} submit={rematchDialog.submit} onClose={onClose} onConfirm={onRematch}>
      <p class='soft'>{rematchDialog.text}</p>
    </Question>
  )
}

/** What can be done with the selected ROMs. */
export function SelectionBar ({ ids, count, collection, onAll, onEnd, onLeave }: SelectionBarProps) {
  const { list, list: { selection: words, done } } = texts()
  const actions = useActions()
  const [open, setOpen] = useState<Open>(null)
  const [progress, setProgress] = useState<number | null>(null)
  const [names, setNames] = useState('')
  const [failed, setFailed] = useState<BulkOutcome['failed']>([])
  const isBusy = progress !== null
  const isNarrow = useMedia('(max-width: 40rem)')
  const bar = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => { if (bar.current?.contains(document.activeElement) === true) onLeave() }, [])

  /** Runs work on all selected ROMs. Those that failed stay to be read. */
  function run (work: () => Promise<BulkOutcome | void>): void {
    setOpen(null)
    setProgress(0)
    work()
      .then((outcome) => { setFailed(outcome?.failed ?? []) })
      .catch(tellFailure)
      .finally(() => { setProgress(null) })
  }

  function askTrash (): void {
    setNames('')
    setOpen('trash')
    loadRoms(ids.slice(0, NAMED)).then((roms) => {
      const others = ids.length - roms.length
      setNames(format().list([...roms.map(nameOf), ...(others > 0 ? [list.trashDialog.others(others)] : [])]))
    }).catch(tellFailure)
  }

  const zip = `${addressOf('api/roms/download')}?rom_ids=${ids.join(',')}`
  function startDownload (): void {
    if (ids.length > ZIP_MAX) tellFailure(new Error(list.tooMany(ZIP_MAX)))
    else location.assign(zip)
  }

  const mayMark = holds('roms.user.write')
  const mayCollect = holds('collections.write')
  const mayScan = holds('tasks.run') && actions.has('rom.refresh')
  const hide = (hidden: boolean) => {
    run(() => mark(ids, { hidden }, hidden ? done.hidden : done.unhidden, setProgress))
  }
  const favorite = () => { run(() => addFavorites(ids)) }
  const removeFrom = (from: Collection) => { run(() => uncollect(from, ids).then(onEnd)) }
  const apply = (marks: Marks) => { run(() => mark(ids, marks, done.marked, setProgress)) }
  const rematch = { id: 'rematch', label: words.rematch, icon: wand, onSelect: () => { setOpen('rematch') } }
  const mayDownload = actions.has('rom.download')
  const isPartial = ids.length < count
  const more: MenuEntry[] = [
    ...(isNarrow && isPartial ? [{ id: 'all', label: words.all, icon: checks, onSelect: onAll }] : []),
    ...(isNarrow && mayDownload ? [{ id: 'download', label: words.download, icon: download, onSelect: startDownload }] : []),
    ...(mayMark ? [{ id: 'hide', label: words.hide, icon: eyeOff, onSelect: () => { hide(true) } }] : []),
    ...(mayMark ? [{ id: 'unhide', label: words.unhide, icon: eye, onSelect: () => { hide(false) } }] : []),
    ...(mayScan ? [null, { id: 'rescan', label: words.rescan, icon: refresh, onSelect: () => { scan(ids, 'hashes') } }] : []),
    ...(mayScan && actions.has('rom.match') ? [rematch] : []),
    ...(actions.has('rom.delete') ? [null, { id: 'trash', label: words.trash, icon: trashIcon, isDanger: true, onSelect: askTrash }] : [])
  ]
  const close = () => { setOpen(null) }
  return (
    <div ref={bar} class='selection-bar' role='toolbar' aria-label={words.title}>
      <IconButton icon={x} label={words.end} onClick={onEnd} />
      <strong class='selection-count number' role='status'>
        {isBusy ? list.working(progress, ids.length) : words.count(ids.length)}
      </strong>
      {isBusy && <progress class='selection-progress' value={progress} max={ids.length} aria-label={words.title} />}
      <span class='selection-space' />
      {isPartial && !isNarrow && <IconButton icon={checks} label={words.all} isBlocked={isBusy} onClick={onAll} />}
      {mayCollect && <BarButton icon={heart} label={words.favorite} isBusy={isBusy} onClick={favorite} />}
      {mayCollect && <BarButton icon={folderPlus} label={words.collect} isBusy={isBusy} onClick={() => { setOpen('collect') }} />}
      {mayCollect && collection !== undefined && (
        <BarButton
          icon={folderMinus} label={words.uncollect} isBusy={isBusy} onClick={() => { removeFrom(collection) }}
        />
      )}
      {mayMark && <BarButton icon={bookmark} label={words.marks} isBusy={isBusy} onClick={() => { setOpen('marks') }} />}
      {mayDownload && !isNarrow && (
        <BarButton icon={download} label={words.download} isBusy={isBusy} onClick={startDownload} />
      )}
      {more.length > 0 && (
        <Menu entries={more.map((entry) => isBusy && entry !== null && typeof entry !== 'string' ? { ...entry, isDisabled: true } : entry)}>
          {(trigger) => <IconButton {...trigger} type='button' icon={ellipsis} label={words.more} />}
        </Menu>
      )}
      {open === 'collect' && <CollectDialog ids={ids} onClose={close} />}
      {open === 'marks' && (
        <MarksDialog count={ids.length} onClose={close} onApply={apply} />
      )}
      <Questions
        open={open} count={ids.length} names={names} onClose={close}
        onTrash={() => { run(() => trash(ids, setProgress)) }}
        onRematch={() => { setOpen(null); scan(ids, 'complete') }}
      />
      {failed.length > 0 && <Failures failed={failed} onClose={() => { setFailed([]) }} />}
    </div>
  )
}

interface BarButtonProps { icon: Parameters<typeof Button>[0]['icon'], label: string, isBusy: boolean, onClick: () => void }

/** A button of the bar, which shows only its icon where space is short. */
const BarButton = ({ icon, label, isBusy, onClick }: BarButtonProps) => (
  <Button kind='quiet' icon={icon} isBlocked={isBusy} title={label} onClick={onClick}><span class='selection-label'>{label}</span></Button>
)
