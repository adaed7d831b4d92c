import { ApiError } from '../../../core/errors.ts'
import type { Readable } from 'node:stream'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { createSyncedWriter } from '../../../core/store/store-writer.ts'
import { ArtworkError } from '../../artwork/failures.ts'
import { createPublisher } from '../../artwork/files.ts'
import { createStaging } from '../../artwork/staging.ts'
import { hasPicture } from '../../collections/import-rows.ts'
import { resourcesDirOf } from '../../resources/resource-key.ts'
import { setFirstAvatar } from '../../users/import-rows.ts'
import { User } from '../../users/entities.ts'
import { FileAbsentError, type ImportRecord, type Importer, type Skipped } from '../contract.ts'
import { selectImported } from '../rows.ts'
import { HAS_ONE, type Picture, limitContent, rememberPicture } from './picture.ts'
import { MEDIUM, createRomMedia } from './rom-media.ts'
import { createRomPictures } from './rom-pictures.ts'
import type { Batch, ImportServices } from './writer.ts'

/** Far more than an avatar needs; it is read into memory. */
const AVATAR_MAX_BYTES = 16 * 1024 ** 2

function explain (err: unknown): string | null {
  if (err instanceof FileAbsentError) return 'it is absent'
  if (err instanceof ApiError || err instanceof ArtworkError) return err.message
  // The decoder of pictures throws plain errors. Those of the database and the disk have a code.
  return err instanceof Error && !('code' in err) ? err.message : null
}

type Stores = Readonly<Record<'storeCover' | 'storeManual' | 'storeScreenshot' | 'storeMedium', Picture['store']>>

/** Lists the files of a ROM that people added. */
function listPictures ({ id, cover, manual, screenshots, media }: ImportRecord<'rom'>, newId: number, stores: Stores): Picture[] {
  const of = { kind: 'rom', oldId: id, newId } as const
  return [
    ...(cover?.url === null ? [{ ...of, as: 'rom_cover', file: cover.file, store: stores.storeCover }] : []),
    ...(manual?.url === null ? [{ ...of, as: 'rom_manual', file: manual.file, store: stores.storeManual }] : []),
    ...screenshots.flatMap(({ file, url }, index) => url === null
      ? [{ ...of, oldId: `${id}/${index}`, as: 'rom_screenshot', file, store: stores.storeScreenshot }]
      : []),
    ...Object.entries(media).flatMap(([kind, { file, url }]) => url === null
      ? [{ ...of, as: MEDIUM + kind, file, store: stores.storeMedium }]
      : [])
  ]
}

/** Creates the import of pictures and manuals that people added. Those of providers come again with a scan. */
export function createPictureWriter (importer: Pick<Importer, 'open'>, services: ImportServices, taskId: string) {
  const { app, isDryRun, source } = services
  const staging = createStaging(app.db, resourcesDirOf(services.config), taskId)
  const publisher = createPublisher({ store: app.store, writer: createSyncedWriter(app.store) })
  const roms = createRomPictures(services, staging, publisher)
  const media = createRomMedia(services, staging, publisher)

  async function storeAvatar (db: Db, picture: Picture, content: Readable): Promise<string | null> {
    const chunks: Buffer[] = []
    for await (const chunk of limitContent(content, AVATAR_MAX_BYTES)) chunks.push(chunk)
    const user = await db.em.findOne(User, { id: picture.newId })
    if (user === null || user.avatar_path !== '') return HAS_ONE
    const staged = await app.users.stageAvatar(user, Buffer.concat(chunks))
    try {
      return await inTransaction(db, async (tx) => {
        if (!await setFirstAvatar(tx, picture.newId, staged.path)) return HAS_ONE
        await rememberPicture(tx, source, picture)
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
    await rememberPicture(db, source, picture)
    return null
  }

  /** @returns the reason for leaving the file out; null if it is stored */
  async function storeOne (db: Db, picture: Picture): Promise<string | null> {
    try {
      const content = await importer.open(picture.file)
      try {
        return isDryRun ? null : await picture.store(db, picture, content)
      } finally {
        // A file that is left out is not read to its end, and would stay open.
        content.destroy()
      }
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
      const romIds = await batch.refs.find('rom', records.map(({ id }) => id))
      return await storeAll(batch, records.flatMap((record) => {
        const newId = romIds.get(record.id)
        return newId === undefined ? [] : listPictures(record, newId, { ...roms, ...media })
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
export type PictureWriter = ReturnType<typeof createPictureWriter>
