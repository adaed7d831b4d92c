import { ForeignKeyConstraintViolationException } from '@mikro-orm/core'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import { ApiError, conflict } from '../../../core/errors.ts'
import { assetsConfig } from '../config.ts'
import { Device } from '../../devices/entities.ts'
import { Rom } from '../../roms/entities.ts'
import { User } from '../../users/entities.ts'
import { Asset, type AssetKind, AssetVersion } from '../entities.ts'
import type { Files, StagedFile } from '../asset-files.ts'
import { cleanFolder } from '../asset-names.ts'
import { deleteForSpace } from '../clean-up/retention-rows.ts'
import { PLURALS } from '../views.ts'
import { type RomNames, countBytes, lockName } from './write-rows.ts'

/** Assets whose writes run one after the other. */
export interface WriteKey { user_id: number, rom_id: number | null, kind: AssetKind }

/** The operations within one transaction, and on files before and after it. */
export interface WriteContext {
  tx: Db
  now: Date
  /** Also locks these lineages against concurrent writes. */
  lock (...lineages: readonly WriteKey[]): Promise<void>
  /** Publishes a file before a row names it; the file is deleted if the transaction rolls back. */
  publish (file: StagedFile, folder: string, fileName: string): Promise<string>
  /** Deletes files after the commit. */
  deleteAfterCommit (diskPaths: readonly string[]): void
}

export interface NewAsset {
  lineage: WriteKey & { rom_id: number }
  rom: RomNames
  file_name: string
  emulator: string | null
  slot: string | null
  is_public: boolean
  is_gallery: boolean
  origin_device_id: number | null
  conflict_of: number | null
  client_mtime: Date | null
}

/**
 * Matches assets of the same game. If the ROM is gone, the game matches by its names, because all such assets have no
 * ROM id.
 */
export const sameGame = ({ rom, platform_fs_slug: platform, rom_fs_name: name }: Asset) =>
  (rom ?? null) === null ? { rom: null, platform_fs_slug: platform, rom_fs_name: name } : { rom }

const lockKey = ({ user_id: user, rom_id: rom, kind }: WriteKey) => `assets:${user}:${rom}:${kind}`
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

export function createWrites (app: FastifyInstance, config: Config, files: Files) {
  const { quota_bytes: quota, versions_kept: versionsKept } = assetsConfig.of(config)

  async function removeFiles (paths: readonly string[]): Promise<void> {
    await files.remove(paths).catch((err: unknown) => { app.log.warn({ err }, 'unused files could not be deleted') })
  }

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
    /**
     * Runs `work` in one transaction, after all other writes to the same lineages. Published files are deleted if
     * `work` throws. If the commit itself fails, the files stay, because nobody knows whether a row names them.
     *
     * @throws ApiError CONFLICT if a referenced row was deleted meanwhile
     */
    async run<T> (db: Db, lineages: readonly WriteKey[], work: (writing: WriteContext) => Promise<T>): Promise<T> {
      const published: string[] = []
      const dropped: string[] = []
      let isDone = false
      try {
        const result = await db.transact(async (tx) => {
          const lock = async (...writeKeys: readonly WriteKey[]) => {
            // A fixed order of locks prevents deadlocks.
            for (const key of [...new Set(writeKeys.map(lockKey))].sort()) {
              await lockName(tx, key)
            }
          }
          await lock(...lineages)
          const outcome = await work({
            tx,
            now: new Date(),
            lock,
            async publish (file, folder, fileName) {
              const path = await file.publish(folder, fileName)
              published.push(path)
              return path
            },
            deleteAfterCommit (paths) { dropped.push(...paths) }
          })
          await tx.em.flush()
          isDone = true
          return outcome
        })
        await removeFiles(dropped)
        return result
      } catch (err) {
        if (!isDone) await removeFiles(published)
        if (!(err instanceof ForeignKeyConstraintViolationException)) throw err
        throw conflict('The ROM, the device or the account was deleted at the same moment; fetch the current state and try again')
      }
    },

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
        rom: tx.em.getReference(Rom, rom.id),
        platform_fs_slug: rom.platform_fs_slug,
        rom_fs_name: rom.fs_name,
        origin_device: device === null ? null : tx.em.getReference(Device, device),
        disk_path: await publish(file, folderOf(lineage, rom, given.emulator), given.file_name),
        created_at: time,
        updated_at: time
      })
      await tx.em.persist(asset).flush()
      return asset
    },

    /** Replaces the content of an asset; the former content becomes a version. The same content changes nothing. */
    async replace (
      writing: WriteContext, asset: Asset, file: StagedFile, folder: string, clientMtime: Date | null
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
        disk_path: await publish(file, folder, asset.file_name),
        missing_from_fs: false,
        ...(isSame ? {} : { updated_at: laterThan(asset.updated_at, now) })
      })
      await tx.em.flush()
    },

    /** Adds content to the history of an asset, whose current content stays. */
    async addVersion (
      writing: WriteContext, asset: Asset, file: StagedFile, folder: string, clientMtime: Date | null
    ): Promise<AssetVersion> {
      const { tx, now, publish } = writing
      await freeSpace(writing, asset.user.id, file.file_size_bytes)
      const version = tx.em.create(AssetVersion, {
        asset,
        ...contentOf(file),
        file_name: asset.file_name,
        client_mtime: clientMtime,
        disk_path: await publish(file, folder, asset.file_name),
        content_updated_at: now,
        created_at: now
      })
      await tx.em.flush()
      return version
    },

    /** Makes a version the current content again; the former content becomes a version. */
    async restoreVersion ({ tx, now }: WriteContext, asset: Asset, version: AssetVersion): Promise<void> {
      tx.em.create(AssetVersion, { asset, ...formerContent(asset), created_at: now })
      tx.em.remove(version)
      tx.em.assign(asset, {
        ...contentOf(version),
        disk_path: version.disk_path,
        client_mtime: version.client_mtime ?? null,
        missing_from_fs: false,
        updated_at: laterThan(asset.updated_at, now)
      })
      await tx.em.flush()
    }
  }
}
export type Writes = ReturnType<typeof createWrites>

function formerContent (asset: Asset) {
  return {
    ...contentOf(asset),
    file_name: asset.file_name,
    disk_path: asset.disk_path,
    client_mtime: asset.client_mtime ?? null,
    content_updated_at: asset.updated_at
  }
}
