import { inTransaction } from '../../core/database/transaction.ts'
import { findPlatforms, reservePlatforms } from '../platforms/import-rows.ts'
import { reserveRoms } from '../roms/import-rows.ts'
import type { ImportContext } from './import-kind.ts'
import { readBatches } from './read-records.ts'

/** Reserves the ids of platforms. @returns the id of each platform here, by its id in the source */
async function reservePlatformIds (
  { db, importer, report, signal, services }: ImportContext
): Promise<Map<string, number>> {
  const platformIds = new Map<string, number>()
  for await (const records of readBatches(importer, 'platform', report, signal)) {
    await inTransaction(db, async (tx) => {
      const ids = await services.keptIds.choose(tx, 'platforms', records.map(({ id }) => id))
      const present = await findPlatforms(tx, records.map((record) => record.fs_slug))
      const kept = records.flatMap((record, index) => {
        const id = present.get(record.fs_slug)?.id ?? ids[index] ?? null
        if (id !== null) platformIds.set(record.id, id)
        const { fs_slug: folder, custom_name: name, description } = record
        return id === null ? [] : [{ id, fs_slug: folder, custom_name: name, description }]
      })
      await reservePlatforms(tx, kept)
    })
  }
  return platformIds
}

/** Lets platforms and ROMs keep their ids: the first scan gives a reserved id to the file that it was reserved for. */
export async function reserveIds (context: ImportContext, libraryId: number): Promise<void> {
  const { db, importer, report, signal, services } = context
  const platformIds = await reservePlatformIds(context)
  for await (const records of readBatches(importer, 'rom', report, signal)) {
    await inTransaction(db, async (tx) => {
      const ids = await services.keptIds.choose(tx, 'roms', records.map(({ id }) => id))
      await reserveRoms(tx, records.flatMap((record, index) => {
        const [id = null, platform] = [ids[index], platformIds.get(record.platform_id)]
        if (id === null || platform === undefined) return []
        const { fs_name: name, fs_size_bytes: size, sha1 } = record
        return [{
          id, library_id: libraryId, platform_id: platform, fs_name: name, fs_size_bytes: size ?? 0, sha1_hash: sha1?.toLowerCase() ?? ''
        }]
      }))
    })
  }
  // The import reads both kinds again.
  report.forget(['platform', 'rom'])
}
