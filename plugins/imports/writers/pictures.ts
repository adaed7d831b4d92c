import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '../../../core/errors.ts'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { artworkFolder } from '../../artwork/artwork.ts'
import { ArtworkError } from '../../artwork/failures.ts'
import { createPublisher } from '../../artwork/files.ts'
import { ARTWORK_MAX_BYTES, createStaging } from '../../artwork/staging.ts'
import { hasPicture } from '../../collections/import-rows.ts'
import { applyEdit } from '../../editing/apply-edit.ts'
import { writeMatches } from '../../matching/match-rows.ts'
import { readPriorities } from '../../matching/merge-matches.ts'
import { isIdentified } from '../../matching/matches.ts'
import { loadStoredRoms } from '../../matching/stored-rows.ts'
import { MANUAL } from '../../rom-files/kinds.ts'
import { writeManual } from '../../rom-files/rows.ts'
import { selectPlaces } from '../../roms/import-rows.ts'
import { setFirstAvatar } from '../../users/import-rows.ts'
import { User } from '../../users/entities.ts'
import { type FileRef, FileAbsentError, type ImportRecord, type Importer, type RecordKind, type Skipped } from '../contract.ts'
import { insertImported, selectImported } from '../rows.ts'
import type { Batch, ImportServices } from './writer.ts'

/** Far more than an avatar needs; it is read into memory. */
const AVATAR_MAX_BYTES = 16 * 1024 ** 2

const tooLarge = (bytes: number) => new ArtworkError(`it has more than ${bytes} bytes`)

/** Passes content on up to a limit. */
async function * limitContent (content: Readable, bytes: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of content as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bytes) throw tooLarge(bytes)
    yield chunk
  }
}

/** One file that a person added in the source, and the function that stores it for a row of this server. */
interface Picture {
  /** The kind under which the import remembers the file. */
  as: string
  kind: RecordKind
  oldId: string
  newId: number
  file: FileRef
  store (db: Db, picture: Picture, content: Readable): Promise<string | null>
}

const HAS_ONE = 'a person chose another one here, which stays'

function explain (err: unknown): string | null {
  if (err instanceof FileAbsentError) return 'it is absent'
  if (err instanceof ApiError || err instanceof ArtworkError) return err.message
  // The decoder of pictures throws plain errors. Those of the database and the disk have a code.
  return err instanceof Error && !('code' in err) ? err.message : null
}

/** Creates the import of pictures and manuals that people added. Those of providers come again with a scan. */
export function createPictureWriter (importer: Pick<Importer, 'open'>, services: ImportServices, taskId: string) {
  const { app, config, isDryRun, source } = services
  const { providers } = app.registry
  const resourcesDir = join(config.data_dir, 'resources')
  const staging = createStaging(app.db, resourcesDir, taskId)
  const publisher = createPublisher({ resourcesDir, staging })

  const remember = async (db: Db, { as, oldId, newId }: Picture) => {
    await insertImported(db, source, [{ kind: as, old_id: oldId, new_id: newId }])
  }

  /** Writes content to a temporary file, which is deleted unless `publish` moves it. */
  async function withPart<T> (content: Readable, publish: (part: string) => Promise<T>): Promise<T> {
    const part = await staging.next()
    try {
      await pipeline(limitContent(content, ARTWORK_MAX_BYTES), createWriteStream(part, { flags: 'wx' }))
      return await publish(part)
    } finally {
      await rm(part, { force: true })
    }
  }

  async function storeAvatar (db: Db, picture: Picture, content: Readable): Promise<string | null> {
    const chunks: Buffer[] = []
    for await (const chunk of limitContent(content, AVATAR_MAX_BYTES)) chunks.push(chunk)
    const user = await db.em.findOne(User, { id: picture.newId })
    if (user === null || user.avatar_path !== '') return HAS_ONE
    const staged = await app.users.stageAvatar(user, Buffer.concat(chunks))
    try {
      return await inTransaction(db, async (tx) => {
        if (!await setFirstAvatar(tx, picture.newId, staged.path)) return HAS_ONE
        await remember(tx, picture)
        await staged.publish()
        return null
      })
    } finally {
      await staged.discard()
    }
  }

  async function storeCollectionCover (db: Db, picture: Picture, content: Readable): Promise<string | null> {
    if (await hasPicture(db, picture.newId)) return HAS_ONE
    await app.collections.setPicture(db, picture.newId, picture.file.path, content)
    await remember(db, picture)
    return null
  }

  /** Sets the cover of a ROM and locks it, as an upload by a person does. */
  async function storeCover (db: Db, picture: Picture, content: Readable): Promise<string | null> {
    const id = picture.newId
    const [stored, place] = [(await loadStoredRoms(db, [id])).get(id), (await selectPlaces(db, [id])).get(id)]
    if (stored === undefined || place === undefined) return 'its ROM was deleted meanwhile'
    const { rom, stored: matches } = stored
    if (rom.own_fields.includes('url_cover')) return HAS_ONE
    const name = `own-${randomUUID()}`
    const folder = `${artworkFolder(place.platform_id, id)}/cover`
    const cover = await withPart(content, (part) =>
      publisher.publishCover(part, { large: `${folder}/${name}`, small: `${folder}/${name}-small` }))
    const { merged, ...edit } = applyEdit(rom, { matches, ids: [], records: [] }, { texts: {}, cover: cover.large, unlock: [] },
      readPriorities(config, providers))
    const isWritten = await inTransaction(db, async (tx) => {
      const written = await writeMatches(tx, [{
        rom_id: id, edits: rom.edits, matches: new Map(), explanations: new Map(), dropped: [],
        merged: { ...merged, is_identified: isIdentified(matches, providers) }, edit: { ...edit, cover }
      }])
      if (written.length > 0) await remember(tx, picture)
      return written.length > 0
    })
    if (isWritten) return null
    for (const path of [cover.large, cover.small]) await rm(join(resourcesDir, path), { force: true })
    return 'another person changed the ROM at the same moment; import again'
  }

  async function storeManual (db: Db, picture: Picture, content: Readable): Promise<string | null> {
    const id = picture.newId
    const type = extname(picture.file.path).toLowerCase()
    if (!MANUAL.extensions.includes(type.slice(1))) return `a manual of the type '${type}' is not supported`
    const place = (await selectPlaces(db, [id])).get(id)
    if (place === undefined) return 'its ROM was deleted meanwhile'
    if (place.path_manual !== null && place.path_manual !== '') return HAS_ONE
    const path = `${artworkFolder(place.platform_id, id)}/manual/${id}${type}`
    await withPart(content, (part) => publisher.publishDocument(part, path))
    await inTransaction(db, async (tx) => {
      await writeManual(tx, id, path)
      await remember(tx, picture)
    })
    return null
  }

  /** @returns the reason for leaving the file out; null if it is stored */
  async function storeOne (db: Db, picture: Picture): Promise<string | null> {
    try {
      const content = await importer.open(picture.file)
      if (!isDryRun) return await picture.store(db, picture, content)
      content.destroy()
      return null
    } catch (err) {
      const reason = explain(err)
      if (reason === null) throw err
      return reason
    }
  }

  /** Stores the files that no earlier import stored. */
  async function storeAll ({ tx: db }: Batch, pictures: readonly Picture[], signal: AbortSignal): Promise<Skipped[]> {
    const skipped: Skipped[] = []
    for (const [as, ofKind] of Map.groupBy(pictures, (picture) => picture.as)) {
      const known = await selectImported(db, source, as, ofKind.map(({ oldId }) => oldId))
      for (const picture of ofKind.filter(({ oldId }) => !known.has(oldId))) {
        signal.throwIfAborted()
        const reason = await storeOne(db, picture)
        if (reason !== null) skipped.push({ kind: picture.kind, id: picture.oldId, name: picture.file.path, reason: `its file: ${reason}` })
      }
    }
    return skipped
  }

  return {
    async writeAvatars (batch: Batch, records: readonly ImportRecord<'user'>[], signal: AbortSignal): Promise<Skipped[]> {
      const users = await batch.refs.find('user', records.map(({ id }) => id))
      return await storeAll(batch, records.flatMap(({ id, avatar }) => {
        const newId = users.get(id)
        return avatar === null || newId === undefined ? [] : [{ as: 'avatar', kind: 'user', oldId: id, newId, file: avatar, store: storeAvatar } as const]
      }), signal)
    },

    async writeCovers (batch: Batch, records: readonly ImportRecord<'rom'>[], signal: AbortSignal): Promise<Skipped[]> {
      const roms = await batch.refs.find('rom', records.map(({ id }) => id))
      return await storeAll(batch, records.flatMap(({ id, cover, manual }) => {
        const newId = roms.get(id)
        if (newId === undefined) return []
        const of = { kind: 'rom', oldId: id, newId } as const
        return [
          ...(cover?.url === null ? [{ ...of, as: 'rom_cover', file: cover.file, store: storeCover }] : []),
          ...(manual?.url === null ? [{ ...of, as: 'rom_manual', file: manual.file, store: storeManual }] : [])
        ]
      }), signal)
    },

    async writeCollectionCovers (batch: Batch, records: readonly ImportRecord<'collection'>[], signal: AbortSignal): Promise<Skipped[]> {
      const collections = await batch.refs.find('collection', records.map(({ id }) => id))
      return await storeAll(batch, records.flatMap(({ id, cover }) => {
        const newId = collections.get(id)
        return cover === null || newId === undefined
          ? []
          : [{ as: 'collection_cover', kind: 'collection', oldId: id, newId, file: cover.file, store: storeCollectionCover } as const]
      }), signal)
    },

    close: staging.remove
  }
}
