import { api, call } from '../../../api/client.ts'
import { type Collection, addToCollection, loadFavorites, removeFromCollection } from '../../../api/collections.ts'
import { cache } from '../../../api/resource.ts'
import type { components } from '../../../api/schema.d.ts'
import { onEvent, sendEvent } from '../../../api/socket.ts'
import { texts } from '../../../i18n/language.ts'
import { tellFailure, tellSuccess } from '../../../ui/toast.tsx'
import { type BulkOutcome, forEachId, splitIds } from '../bulk.ts'
import { findTrashed } from './find-trashed.ts'

type RomProps = components['schemas']['RomProps']
type MarkName = 'status' | 'rating' | 'difficulty' | 'completion' | 'now_playing' | 'backlogged' | 'hidden'
export type Marks = Pick<RomProps, MarkName>
type OnProgress = (finished: number) => void

/** One request changes at most so many members or files. */
const REQUEST_MAX = 5_000

/** Loads the lists, home page and counts again, after a change that no event announces. */
function reloadLists (): void {
  cache.invalidateAll('list ')
  cache.invalidateAll('home ')
}

/** Offers to undo a change. */
const undoBy = (undo: () => Promise<unknown>) => ({
  label: texts().list.undo,
  run: () => {
    undo().then(() => {
      reloadLists()
      tellSuccess(texts().list.done.undone)
    }).catch(tellFailure)
  }
})

/** Adds ROMs to a collection; those that are in it stay. */
export async function collect (
  collection: Collection, ids: readonly number[], tell: (count: number) => string
): Promise<void> {
  const { list } = texts()
  const members = new Set(collection.rom_ids)
  const added = ids.filter((id) => !members.has(id))
  for (const part of splitIds(added, REQUEST_MAX)) await addToCollection(collection.id, part)
  reloadLists()
  if (added.length === 0) tellSuccess(list.done.allThere(collection.name))
  else tellSuccess(tell(added.length), undoBy(() => removeFromCollection(collection.id, added)))
}

export async function uncollect (collection: Collection, ids: readonly number[]): Promise<void> {
  for (const part of splitIds(ids, REQUEST_MAX)) await removeFromCollection(collection.id, part)
  reloadLists()
  const { done } = texts().list
  tellSuccess(done.uncollected(ids.length, collection.name), undoBy(() => addToCollection(collection.id, ids)))
}

/** Adds ROMs to the favourites, which are created with the first one. */
export async function addFavorites (ids: readonly number[]): Promise<void> {
  await collect(await loadFavorites(), ids, texts().list.done.favorite)
}

/** Loads some fields of ROMs, for names and for the way back. */
export async function loadRoms (ids: readonly number[]): Promise<components['schemas']['SimpleRom'][]> {
  const roms = new Map<number, components['schemas']['SimpleRom']>()
  await forEachId(ids, async (id) => { roms.set(id, await call(api.GET('/api/roms/{id}/simple', { params: { path: { id } } }))) })
  return ids.flatMap((id) => roms.get(id) ?? [])
}

const storeMarks = (id: number, body: Marks) => call(api.PUT('/api/roms/{id}/props', { params: { path: { id } }, body }))

/** Sets marks on ROMs one by one; the former marks come back by undo. */
export async function mark (
  ids: readonly number[], marks: Marks, tell: (count: number) => string, onProgress: OnProgress
): Promise<BulkOutcome> {
  const former = new Map<number, Marks>()
  const names = Object.keys(marks) as MarkName[]
  const outcome = await forEachId(ids, async (id) => {
    const { rom_user: before } = await call(api.GET('/api/roms/{id}/simple', { params: { path: { id } } }))
    await storeMarks(id, marks)
    former.set(id, Object.fromEntries(names.map((name) => [name, before[name]])))
  }, onProgress)
  reloadLists()
  const undo = () => forEachId([...former.keys()], async (id) => { await storeMarks(id, former.get(id) ?? {}) })
  if (outcome.done.length > 0) tellSuccess(tell(outcome.done.length), undoBy(undo))
  return outcome
}

/** Restores ROMs from the trash. */
async function restore (ids: readonly number[]): Promise<void> {
  const items = await findTrashed(ids, (offset) => call(api.GET('/api/trash', { params: { query: { limit: REQUEST_MAX, offset } } })))
  const problems: string[] = []
  for (const part of splitIds(items, REQUEST_MAX)) {
    problems.push(...(await call(api.POST('/api/trash/restore', { body: { items: part } }))).errors)
  }
  if (problems.length > 0) throw new Error(problems.join(' '))
}

/** Moves ROMs with their files to the trash. */
export async function trash (ids: readonly number[], onProgress: OnProgress): Promise<BulkOutcome> {
  const failed: { id: number, reason: string }[] = []
  let finished = 0
  for (const part of splitIds(ids, REQUEST_MAX)) {
    const result = await call(api.POST('/api/roms/delete', { body: { roms: part, delete_from_fs: part } }))
    result.failed_ids.forEach((id, index) => { failed.push({ id, reason: result.errors[index] ?? '' }) })
    finished += part.length
    onProgress(finished)
  }
  reloadLists()
  const lost = new Set(failed.map(({ id }) => id))
  const done = ids.filter((id) => !lost.has(id))
  if (done.length > 0) tellSuccess(texts().list.done.trashed(done.length), undoBy(() => restore(done)))
  return { done, failed }
}

/** Scans of this tab that run or wait, because events do not name the scan. */
let scans = 0

/** Tells the end of each scan of this tab. */
function followScans (): void {
  const stops = [
    onEvent('scan:done', () => { end(); tellSuccess(texts().list.done.scanned) }),
    onEvent('scan:done_ko', (reason) => { end(); tellFailure(new Error(reason)) })
  ]
  function end (): void {
    scans--
    if (scans === 0) for (const stop of stops) stop()
  }
}

/** Starts a scan of ROMs: of their files, or of their matches from scratch. Its end is told. */
export function scan (ids: readonly number[], type: 'hashes' | 'complete'): void {
  const { list: { done } } = texts()
  scans++
  if (scans === 1) followScans()
  sendEvent('scan', { type, roms_ids: [...ids] })
  tellSuccess(done.scanning(ids.length))
}
