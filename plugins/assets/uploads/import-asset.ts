import type { Db } from '../../../core/database/db.ts'
import { Device } from '../../devices/entities.ts'
import { Rom } from '../../roms/entities.ts'
import { User } from '../../users/entities.ts'
import { type StagedFile, measureContent } from '../asset-files.ts'
import { cleanFileName } from '../asset-names.ts'
import { readPicture } from '../check-picture.ts'
import { Asset } from '../entities.ts'
import { type GivenAsset, type Writes, folderOf } from './write-assets.ts'
import type { WriteContext } from './write-transaction.ts'

/** An asset of another server. */
export interface ImportedAsset extends GivenAsset {
  /** The id to give it, which no asset has; null for the next one. */
  id: number | null
  platform_fs_slug: string
  rom_fs_name: string
  created_at: Date
  updated_at: Date
}

/** `version`: this server has other content under the name, so the imported content became a former one. */
export interface ImportedContent { id: number, as: 'new' | 'present' | 'version' }

const isSamePlace = (asset: Asset, { emulator, slot }: Pick<ImportedAsset, 'emulator' | 'slot'>) =>
  (asset.emulator ?? null) === emulator && (asset.slot ?? null) === slot

/** Creates the import of assets, which keeps their times and never replaces content. */
export function createAssetImports (writes: Writes) {
  async function create (writing: WriteContext, given: ImportedAsset, file: StagedFile): Promise<Asset> {
    const { tx, publish } = writing
    const { id, lineage, origin_device_id: device, ...columns } = given
    const rom = { id: lineage.rom_id ?? 0, fs_name: given.rom_fs_name, platform_fs_slug: given.platform_fs_slug }
    await writes.freeSpace(writing, lineage.user_id, file.file_size_bytes)
    const asset = tx.em.create(Asset, {
      ...columns,
      ...(id === null ? {} : { id }),
      file_size_bytes: file.file_size_bytes,
      sha1: file.sha1,
      content_hash: file.content_hash,
      kind: lineage.kind,
      user: tx.em.getReference(User, lineage.user_id),
      rom: lineage.rom_id === null ? null : tx.em.getReference(Rom, lineage.rom_id),
      origin_device: device === null ? null : tx.em.getReference(Device, device),
      content_device: device === null ? null : tx.em.getReference(Device, device),
      disk_path: await publish(file, folderOf(lineage, rom, given.emulator), given.file_name)
    })
    await tx.em.persist(asset).flush()
    return asset
  }

  async function storeIn (writing: WriteContext, given: ImportedAsset, file: StagedFile): Promise<ImportedContent> {
    const { lineage, rom_fs_name: name, platform_fs_slug: platform } = given
    const game = lineage.rom_id === null
      ? { rom: null, rom_fs_name: name, platform_fs_slug: platform }
      : { rom: lineage.rom_id }
    const peers = await writing.tx.em.find(Asset,
      { ...game, user: lineage.user_id, kind: lineage.kind, file_name: given.file_name, deleted_at: null }, { orderBy: { id: 'asc' } })
    const twins = peers.filter((peer) => isSamePlace(peer, given))
    const same = twins.find((peer) => peer.sha1 === file.sha1)
    if (same !== undefined) return { id: same.id, as: 'present' }
    const [other] = twins
    if (other === undefined) return { id: (await create(writing, given, file)).id, as: 'new' }
    const rom = { id: lineage.rom_id ?? 0, fs_name: name, platform_fs_slug: platform }
    const folder = folderOf(lineage, rom, given.emulator)
    await writes.addVersion(writing, other,
      { file, folder, client_mtime: given.updated_at, device_id: given.origin_device_id })
    return { id: other.id, as: 'version' }
  }

  return {
    /** Reads content as `stage` would, and stores nothing. */
    measure: measureContent,

    /**
     * Stores an asset, and what `then` writes, in one transaction.
     *
     * @throws ApiError BAD_REQUEST for a name or a picture that cannot be used, NO_FREE_SPACE, TOO_LARGE
     */
    async store (
      db: Db, given: ImportedAsset, file: StagedFile, then: (tx: Db, stored: ImportedContent) => Promise<void>
    ): Promise<ImportedContent> {
      const named = { ...given, file_name: cleanFileName(given.file_name) }
      if (given.lineage.kind === 'screenshot' && file.path !== '') {
        await readPicture({ path: file.path, head: file.head, name: named.file_name })
      }
      // Measured content is for a plan, whose rows nobody else sees.
      const lineages = file.path === '' ? [] : [given.lineage]
      return await writes.run(db, lineages, async (writing) => {
        const stored = await storeIn(writing, named, file)
        await then(writing.tx, stored)
        return stored
      })
    }
  }
}
