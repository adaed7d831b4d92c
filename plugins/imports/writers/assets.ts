import PQueue from 'p-queue'
import { ApiError } from '../../../core/errors.ts'
import type { Db } from '../../../core/database/db.ts'
import type { ImportedAsset, ImportedContent } from '../../assets/imports.ts'
import { selectNamesOfRoms } from '../../roms/import-rows.ts'
import { FileAbsentError, type ImportRecord, type Importer } from '../contract.ts'
import { insertImported } from '../rows.ts'
import { type Batch, type ImportServices, noUser, toTimes } from './writer.ts'

type AssetRecord = ImportRecord<'asset'>
const ZIP_MARK = 'PK\x03\x04'
/** Most assets that are stored at once, because each waits several times for the disk. A dry run has one connection. */
const ASSETS_AT_ONCE = 6
const MD5 = /^[0-9a-f]{32}$/

/** An asset with the rows of this server that it refers to. */
interface ResolvedAsset { record: AssetRecord, asset: ImportedAsset }

/** Returns the assets of a batch with their users, ROMs and devices, and the reason for each that has none. */
async function resolve (
  { tx, refs, services }: Batch, records: readonly AssetRecord[]
): Promise<(ResolvedAsset | { record: AssetRecord, reason: string })[]> {
  const roms = await refs.find('rom', records.map((record) => record.rom_id))
  const devices = await refs.find('device', records.map((record) => record.device_id))
  const userOf = await refs.users(records)
  const names = await selectNamesOfRoms(tx, [...roms.values()])
  // States and screenshots have numbers of their own in the source, so they get new ones here.
  const keptIds = await services.keptIds.choose(tx, 'assets', records.map(({ kind, id }) => kind === 'save' ? id : ''))
  return records.map((record, index) => {
    const user = userOf(record)
    if (user === null) {
      const refused = noUser(record.user_id)
      return { record, reason: 'reason' in refused ? refused.reason : '' }
    }
    const rom = roms.get(record.rom_id ?? '')
    const known = rom === undefined ? undefined : names.get(rom)
    const [platform, name] = [known?.platform_fs_slug ?? record.platform_fs_slug, known?.fs_name ?? record.rom_fs_name]
    if (platform === null || name === null) return { record, reason: 'nothing says which ROM it belongs to' }
    const times = toTimes(record)
    return {
      record,
      asset: {
        id: keptIds[index] ?? null,
        lineage: { user_id: user, rom_id: known === undefined ? null : rom ?? null, kind: record.kind },
        platform_fs_slug: platform,
        rom_fs_name: name,
        file_name: record.file_name,
        emulator: record.emulator,
        slot: record.slot,
        is_public: record.is_public,
        is_gallery: record.kind === 'screenshot' && record.is_gallery,
        origin_device_id: devices.get(record.device_id ?? '') ?? null,
        created_at: new Date(times.created_at),
        updated_at: new Date(times.updated_at)
      }
    }
  })
}

/** The result of one asset. */
export type AssetOutcome = { record: AssetRecord } & ({ as: ImportedContent['as'] } | { reason: string })

interface Content { file_size_bytes: number, content_hash: string | null, head: Buffer }

/** Adds a sentence if the bytes are not those that the source described. */
function compareContent (
  { warn }: ImportServices, { kind, file, md5 }: AssetRecord, content: Content
): void {
  const isZip = content.head.toString('latin1', 0, ZIP_MARK.length) === ZIP_MARK
  if (file.size_bytes !== null && file.size_bytes !== content.file_size_bytes) {
    warn(`The ${kind} '${file.path}' has ${content.file_size_bytes} bytes and ${file.size_bytes} in the database of the source; the bytes were imported`)
  } else if (md5 !== null && MD5.test(md5) && !isZip && md5 !== content.content_hash) {
    warn(`The ${kind} '${file.path}' has the MD5 ${content.content_hash ?? ''} and ${md5} in the database of the source; the bytes were imported`)
  }
}

function explain (err: unknown): string | null {
  if (err instanceof FileAbsentError) return 'its file is absent'
  return err instanceof ApiError ? err.message : null
}

/** Creates the import of the assets of a batch, each in a transaction of its own, because each has a file. */
export function createAssetWriter (importer: Pick<Importer, 'open'>, services: ImportServices) {
  const { app, isDryRun, source } = services
  const { imports, stage } = app.assets

  async function storeOne (db: Db, { record, asset }: ResolvedAsset): Promise<ImportedContent['as']> {
    const content = await importer.open(record.file)
    const staged = isDryRun
      ? await imports.measure(record.file_name, content)
      : await stage(db, asset.lineage.user_id, record.file_name, content)
    try {
      compareContent(services, record, staged)
      const stored = await imports.store(db, asset, staged, async (tx, { id }) => {
        await insertImported(tx, source, [{ kind: record.kind, old_id: record.id, new_id: id }])
      })
      return stored.as
    } finally {
      await staged.discard()
    }
  }

  async function storeOrExplain (db: Db, resolved: ResolvedAsset): Promise<AssetOutcome> {
    const { record } = resolved
    try {
      return { record, as: await storeOne(db, resolved) }
    } catch (err) {
      const reason = explain(err)
      if (reason === null) throw err
      return { record, reason }
    }
  }

  return async function write (
    batch: Batch, records: readonly AssetRecord[], signal: AbortSignal
  ): Promise<AssetOutcome[]> {
    const resolved = await resolve(batch, records)
    const queue = new PQueue({ concurrency: isDryRun ? 1 : ASSETS_AT_ONCE })
    try {
      return await queue.addAll(resolved.map((one) => async () => {
        signal.throwIfAborted()
        if ('reason' in one) return one
        // A handle collects the entities that it loads, and each asset needs only its own.
        if (isDryRun) batch.tx.em.clear()
        return await storeOrExplain(isDryRun ? batch.tx : app.db, one)
      }))
    } finally {
      // Nothing is written after the import has ended.
      queue.clear()
      await queue.onIdle()
    }
  }
}
