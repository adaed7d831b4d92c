import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../../core/errors.ts'
import type { Store } from '../../../core/store/store.ts'
import { openStoredFile } from '../../roms/stored-files.ts'
import { artworkFolder } from '../../artwork/artwork.ts'
import { resourceKey } from '../../resources/resource-key.ts'
import { storeCover } from './cover.ts'
import type { TagReader } from './reader.ts'
import { type TaggedFile, type UntaggedFile, findUntagged, selectUntagged, writeTags } from './tag-rows.ts'

/** Number of files per write. */
const BATCH = 50

interface TaggerServices { library: FastifyInstance['library'], store: Store, reader: TagReader }

/** Returns null if the library or the store does not work now; a later run tries it again. */
async function orNull<T> (work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (err) {
    if (err instanceof ApiError || (err instanceof Error && 'syscall' in err)) return null
    throw err
  }
}

async function read (services: TaggerServices, file: UntaggedFile): Promise<TaggedFile | null> {
  const handle = await orNull(() => openStoredFile(services.library, file))
  if (handle === null) return null
  const answer = await services.reader.read(handle, file.file_name)
  const { id, rom_id: rom, platform_id: platform, last_modified: changed } = file
  const fileRef = { id, platform_id: platform, last_modified: changed }
  if (answer === null) return { ...fileRef, track_meta: null }
  const { tags, picture } = answer
  const stem = `${artworkFolder(platform, rom)}/soundtracks/${id}`
  if (picture === null) return { ...fileRef, track_meta: { ...tags, cover_path: null } }
  return await orNull(async () =>
    ({ ...fileRef, track_meta: { ...tags, cover_path: await storeCover(picture, services.store, stem) } }))
}

/**
 * Deletes obsolete covers. For a written file that is the former cover. For a skipped file it is the new one, because
 * the file is read again or was deleted.
 */
async function removeCovers (
  store: Store, files: readonly UntaggedFile[], tagged: readonly TaggedFile[], writtenIds: ReadonlySet<number>
): Promise<void> {
  const former = new Map(files.map(({ id, cover_path: path }) => [id, path]))
  for (const { id, track_meta: meta } of tagged) {
    const [before, now] = [former.get(id) ?? null, meta?.cover_path ?? null]
    if (!writtenIds.has(id) && now !== null) await store.delete([resourceKey(now)])
    else if (writtenIds.has(id) && before !== null && before !== now) await store.delete([resourceKey(before)])
  }
}

/** Reads and stores the tags of soundtracks, with the embedded cover. */
export function createTagger ({ db, library, store }: FastifyInstance, reader: TagReader) {
  const services = { library, store, reader }

  async function tag (files: readonly UntaggedFile[], signal?: AbortSignal): Promise<void> {
    const tagged: TaggedFile[] = []
    for (const file of files) {
      if (signal?.aborted === true) break
      const taggedFile = await read(services, file)
      if (taggedFile !== null) tagged.push(taggedFile)
    }
    await removeCovers(store, files, tagged, await writeTags(db, tagged))
  }

  return {
    /** Reads one file for a waiting request. */
    async tagOne (id: number): Promise<void> {
      const file = await findUntagged(db, id)
      if (file !== null) await tag([file])
    },

    /** Reads every file that changed since its tags were read. */
    async tagAll (signal: AbortSignal): Promise<void> {
      for (let last = 0; ;) {
        const files = await selectUntagged(db, last, BATCH)
        last = files.at(-1)?.id ?? 0
        if (files.length === 0 || signal.aborted) return
        await tag(files, signal)
      }
    }
  }
}
export type Tagger = ReturnType<typeof createTagger>
