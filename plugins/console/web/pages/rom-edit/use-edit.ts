import { useEffect, useRef, useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Failure, toFailure } from '../../api/failure.ts'
import { texts } from '../../i18n/language.ts'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { type DetailedRom, showRom } from '../rom/rom-data.ts'
import type { RomSources } from '../rom/source-list.ts'
import { type CoverChoice, isCoverChanged, toCoverUndo } from './cover-choice.ts'
import {
  type EditRequest,
  type EditValues,
  type Field,
  listChanges,
  listLocked,
  readValues,
  toRequest,
  toUndo
} from './edit-values.ts'
import { dropDraft, readDraft, storeDraft } from './drafts.ts'
import { type EditConflict, mergeEdits } from './merge-edits.ts'

/** Sends an edit: texts and locks, and a picture if there is one. */
async function sendEdit (id: number, { body, unlock }: EditRequest, cover: CoverChoice): Promise<DetailedRom> {
  const fields = { ...body, ...(cover.kind === 'url' ? { url_cover: cover.url } : {}) }
  const isUnlocked = cover.kind === 'unlock' ? [...unlock, 'url_cover'] : unlock
  const params = {
    path: { id },
    query: { unlock: isUnlocked, ...(cover.kind === 'remove' ? { remove_cover: true } : {}) }
  }
  if (cover.kind !== 'file') return await call(api.PUT('/api/roms/{id}', { params, body: fields }))
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('artwork', cover.file, 'cover')
  return await call(api.PUT('/api/roms/{id}', { params, body: fields, bodySerializer: () => form }))
}

/** Stores an edit of a ROM, and offers to undo it. */
async function storeEdit (
  rom: DetailedRom, request: EditRequest, cover: CoverChoice, { locked }: Pick<RomSources, 'locked'>
): Promise<void> {
  const undo = toUndo(rom, request, listLocked(locked, rom.manual_metadata))
  const formerCover = await toCoverUndo(cover, rom, locked)
  showRom(await sendEdit(rom.id, request, cover))
  dropDraft(rom.id)
  const { edit: words } = texts().rom
  const bringBack = () => {
    sendEdit(rom.id, undo, formerCover)
      .then((former) => {
        showRom(former)
        tellSuccess(words.undone)
      })
      .catch(tellFailure)
  }
  tellSuccess(words.saved, { label: words.undo, run: bringBack })
}

const loadRom = (id: number) => call(api.GET('/api/roms/{id}', { params: { path: { id } } }))

/** Lets the browser ask before it leaves a changed form. */
function useQuestionAtEnd (isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return
    const ask = (event: Event) => { event.preventDefault() }
    addEventListener('beforeunload', ask)
    return () => { removeEventListener('beforeunload', ask) }
  }, [isChanged])
}

/** The form of a ROM with its unlocked fields, and what somebody else changed meanwhile. */
export function useEdit (rom: DetailedRom, sources: RomSources, onSaved: () => void) {
  const [draft, setDraft] = useState(() => readDraft(rom.id))
  const [base, setBase] = useState<EditValues>(() => draft?.base ?? readValues(rom))
  const [values, setValues] = useState<EditValues>(draft?.values ?? base)
  const [unlocked, setUnlocked] = useState<ReadonlySet<Field>>(draft?.unlocked ?? new Set())
  const [cover, setCover] = useState<CoverChoice>(draft?.cover ?? { kind: 'none' })
  const [conflicts, setConflicts] = useState<readonly EditConflict[]>([])
  const [hasTaken, setTaken] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure | null>(null)
  const isSaving = useRef(false)
  const isChanged = listChanges(base, values).length > 0 || unlocked.size > 0 || isCoverChanged(cover)
  useQuestionAtEnd(isChanged)
  useEffect(() => {
    if (isChanged) storeDraft(rom.id, { base, values, unlocked, cover })
    else dropDraft(rom.id)
  }, [base, values, unlocked, cover])

  /** Takes newer values into the form. @returns true if the person must decide about a field */
  function take (newer: DetailedRom): boolean {
    const theirs = readValues(newer)
    const merged = mergeEdits(base, values, theirs)
    setBase(theirs)
    setValues(merged.values)
    if (merged.hasTaken) setTaken(true)
    const open = [
      ...conflicts.filter(({ field }) => merged.conflicts.every((one) => one.field !== field)),
      ...merged.conflicts
    ]
    setConflicts(open)
    return merged.conflicts.length > 0
  }
  useEffect(() => {
    if (!isSaving.current) take(rom)
  }, [rom])

  async function save (): Promise<void> {
    // A socket without connection tells nothing, so the newest values are compared before they are replaced.
    const newest = await loadRom(rom.id)
    if (take(newest)) return
    const request = toRequest(newest, readValues(newest), mergeEdits(base, values, readValues(newest)).values, unlocked)
    await storeEdit(newest, request, cover, sources)
    onSaved()
  }

  return {
    values,
    cover,
    conflicts,
    hasTaken,
    isBusy,
    failure,
    unlocked,
    locked: listLocked(sources.locked, rom.manual_metadata),
    isChanged,
    /** True if the form began with changes that were not saved before. */
    isDraft: draft !== undefined && isChanged,
    discard (): void {
      setDraft(undefined)
      setBase(readValues(rom))
      setValues(readValues(rom))
      setUnlocked(new Set())
      setCover({ kind: 'none' })
      setConflicts([])
    },
    setCover,
    set (field: Field, value: string): void {
      setValues({ ...values, [field]: value })
    },
    toggleUnlock (field: Field): void {
      const next = new Set(unlocked)
      if (!next.delete(field)) next.add(field)
      setUnlocked(next)
    },
    decide ({ field, theirs }: EditConflict, keepsMine: boolean): void {
      if (!keepsMine) setValues({ ...values, [field]: theirs })
      setConflicts(conflicts.filter((one) => one.field !== field))
    },
    async submit (): Promise<void> {
      if (isSaving.current || conflicts.length > 0) return
      isSaving.current = true
      setBusy(true)
      setFailure(null)
      try {
        await save()
      } catch (err) {
        setFailure(toFailure(err))
      }
      isSaving.current = false
      setBusy(false)
    }
  }
}
export type Edit = ReturnType<typeof useEdit>
