import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import { ApiError } from '../../../core/errors.ts'
import { assetsConfig } from '../config.ts'
import { Device } from '../../devices/entities.ts'
import { Rom } from '../../roms/entities.ts'
import { User } from '../../users/entities.ts'
import { Asset, AssetVersion } from '../entities.ts'
import type { Files, StagedFile } from '../asset-files.ts'
import { cleanFolder } from '../asset-names.ts'
import { deleteForSpace } from '../clean-up/retention-rows.ts'
import { PLURALS } from '../views.ts'
import { type RomNames, countBytes } from './write-rows.ts'
import { type WriteContext, type WriteKey, createWriteRunner } from './write-transaction.ts'

/** Content for an asset: a staged file, its folder below that of the user, and when which device changed the file. */
export interface NewContent {
  file: StagedFile
  folder: string
  client_mtime: Date | null
  /** The id of the device that sent it; null if it is unknown. */
  device_id: number | null
}

/** The fields of each asset that is created. */
export interface GivenAsset {
  lineage: WriteKey
  file_name: string
  emulator: string | null
  slot: string | null
  is_public: boolean
  is_gallery: boolean
  origin_device_id: number | null
}

export interface NewAsset extends GivenAsset {
  /** The names of its ROM; names that no ROM has if the lineage names none. */
  rom: RomNames
  conflict_of: number | null
  client_mtime: Date | null
}

/**
 * Matches assets of the same game. If the ROM is gone, the game matches by its names, because all such assets have no
 * ROM id.
 */
export const sameGame = ({ rom, platform_fs_slug: platform, rom_fs_name: name }: Asset) =>
  (rom ?? null) === null ? { rom: null, platform_fs_slug: platform, rom_fs_name: name } : { rom }

/** Returns a time after the former one. Devices compare by this time, so two contents of one asset must differ. */
export const laterThan = (former: Date, now: Date) => new Date(Math.max(now.getTime(), former.getTime() + 1))

/** Returns the content folder of an asset, below the folder of its user. */
export function folderOf ({ kind }: Pick<WriteKey, 'kind'>, rom: RomNames, emulator: string | null): string {
  const folders = [PLURALS[kind], cleanFolder(rom.platform_fs_slug), String(rom.id)]
  return (emulator === null ? folders : [...folders, cleanFolder(emulator)]).join('/')
}

const contentOf = (from: Pick<Asset, 'file_size_bytes' | 'sha1'> & { content_hash?: string | null }) => ({
  file_size_bytes: from.file_size_bytes, sha1: from.sha1, content_hash: from.content_hash ?? null
})

function formerContent (asset: Asset) {
  return {
    ...contentOf(asset),
    file_name: asset.file_name,
    disk_path: asset.disk_path,
    client_mtime: asset.client_mtime ?? null,
    content_device: asset.content_device ?? null,
    content_updated_at: asset.updated_at
  }
}

/** Makes a version the current content again; the former content becomes a version. */
export async function restoreVersion (
  { tx, now }: WriteContext, asset: Asset, version: AssetVersion
): Promise<void> {
  tx.em.create(AssetVersion, { asset, ...formerContent(asset), created_at: now })
  tx.em.remove(version)
  tx.em.assign(asset, {
    ...contentOf(version),
    disk_path: version.disk_path,
    client_mtime: version.client_mtime ?? null,
    content_device: version.content_device ?? null,
    missing_from_fs: false,
    updated_at: laterThan(asset.updated_at, now)
  })
  await tx.em.flush()
}

const deviceOf = (tx: Db, id: number | null) => id === null ? null : tx.em.getReference(Device, id)

/** Creates the writes of assets that count against the quota of their user. */
export function createWrites (app: FastifyInstance, config: Config, files: Files) {
  const { quota_bytes: quota, versions_kept: versionsKept } = assetsConfig.of(config)

  /**
   * Deletes former contents if an upload exceeds the quota of the user.
   *
   * @throws ApiError NO_FREE_SPACE if the quota is still exceeded.
   */
  async function freeSpace (
    { tx, deleteAfterCommit: drop }: WriteContext, userId: number, bytes: number
  ): Promise<void> {
    if (quota === 0 || await countBytes(tx, userId) + bytes <= quota) return
    drop(await deleteForSpace(tx, versionsKept, userId))
    if (await countBytes(tx, userId) + bytes <= quota) return
    throw new ApiError('NO_FREE_SPACE', `Your files would take more than ${quota} bytes, former contents included; delete some ` +
      'and wait until they expire, or ask an administrator to raise ASSET_QUOTA_BYTES')
  }

  return {
    run: createWriteRunner(app.log, files),
    freeSpace,

    async create (writing: WriteContext, given: NewAsset, file: StagedFile, after: Date | null): Promise<Asset> {
      const { tx, now, publish } = writing
      const { lineage, rom, origin_device_id: device, ...columns } = given
      await freeSpace(writing, lineage.user_id, file.file_size_bytes)
      const time = after === null ? now : laterThan(after, now)
      const asset = tx.em.create(Asset, {
        ...columns,
        ...contentOf(file),
        kind: lineage.kind,
        user: tx.em.getReference(User, lineage.user_id),
        rom: lineage.rom_id === null ? null : tx.em.getReference(Rom, lineage.rom_id),
        platform_fs_slug: rom.platform_fs_slug,
        rom_fs_name: rom.fs_name,
        origin_device: deviceOf(tx, device),
        content_device: deviceOf(tx, device),
        disk_path: await publish(file, folderOf(lineage, rom, given.emulator), given.file_name),
        created_at: time,
        updated_at: time
      })
      await tx.em.persist(asset).flush()
      return asset
    },

    /** Replaces the content of an asset; the former content becomes a version. The same content changes nothing. */
    async replace (
      writing: WriteContext, asset: Asset, { file, folder, client_mtime: clientMtime, device_id: device }: NewContent
    ): Promise<void> {
      const { tx, now, publish, deleteAfterCommit: drop } = writing
      const isSame = asset.sha1 === file.sha1
      if (isSame && !asset.missing_from_fs) return
      await freeSpace(writing, asset.user.id, file.file_size_bytes)
      if (isSame) drop([asset.disk_path])
      else tx.em.create(AssetVersion, { asset, ...formerContent(asset), created_at: now })
      tx.em.assign(asset, {
        ...contentOf(file),
        client_mtime: clientMtime,
        content_device: deviceOf(tx, device),
        disk_path: await publish(file, folder, asset.file_name),
        missing_from_fs: false,
        ...(isSame ? {} : { updated_at: laterThan(asset.updated_at, now) })
      })
      await tx.em.flush()
    },

    /** Adds content to the history of an asset, whose current content stays. */
    async addVersion (
      writing: WriteContext, asset: Asset, { file, folder, client_mtime: clientMtime, device_id: device }: NewContent
    ): Promise<AssetVersion> {
      const { tx, now, publish } = writing
      await freeSpace(writing, asset.user.id, file.file_size_bytes)
      const version = tx.em.create(AssetVersion, {
        asset,
        ...contentOf(file),
        file_name: asset.file_name,
        client_mtime: clientMtime,
        content_device: deviceOf(tx, device),
        disk_path: await publish(file, folder, asset.file_name),
        content_updated_at: now,
        created_at: now
      })
      await tx.em.flush()
      return version
    }
  }
}
export type Writes = ReturnType<typeof createWrites>
