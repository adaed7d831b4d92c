import { extname } from 'node:path'
import type { Context } from '../../../core/access/context.ts'
import { stampUpload } from '../device-sync/device-stamps.ts'
import { Asset, type AssetKind, type AssetRef } from '../entities.ts'
import { NO_PLATFORM, conflictName } from '../asset-names.ts'
import type { StagedFile } from '../asset-files.ts'
import { withoutDateTag } from '../base-rows.ts'
import { getOwn } from '../read-assets.ts'
import { Rom } from '../../roms/entities.ts'
import { lineageOf, load, ownFolder } from './change-assets.ts'
import { findRom } from './read-upload.ts'
import type { AssetWriting } from './upload-assets.ts'
import type { WriteContext, WriteKey } from './write-transaction.ts'

/** A file that becomes an asset. */
export interface NewFile {
  kind: AssetKind
  /** Null for a file whose game is unknown. */
  rom_id: number | null
  file_name: string
  emulator: string | null
  slot: string | null
}

/** Returns a name that no asset of the game has: the emulator's name is added, and then a number. */
async function chooseName (
  { tx }: WriteContext, { user_id: user, rom_id: rom, kind }: WriteKey, { file_name: name, emulator }: Pick<NewFile, 'file_name' | 'emulator'>
): Promise<string> {
  if (rom === null) return name
  const peers = await tx.em.find(Asset, { user, rom, kind, deleted_at: null }, { fields: ['file_name'] })
  const taken = new Set(peers.map((peer) => withoutDateTag(peer.file_name)))
  const extension = extname(name)
  const stem = name.slice(0, name.length - extension.length)
  const tagged = emulator === null ? stem : `${stem} [${emulator}]`
  let free = name
  for (let number = 1; taken.has(free); number++) free = number === 1 && tagged !== stem ? tagged + extension : `${tagged} (${number})${extension}`
  return free
}

/** Assets of features that store files by a path of their own and thereby know which asset a file is. */
export function createFiledAssets ({ writes, devices }: Pick<AssetWriting, 'writes' | 'devices'>) {
  return {
    /** Stores a file as a new asset beside all others. @returns its id */
    async add (context: Context, given: NewFile, file: StagedFile): Promise<number> {
      const { db, caller } = context
      const { kind, rom_id: romId, emulator, slot } = given
      const acting = await devices.findSender(context, undefined)
      const rom = romId === null
        ? { id: 0, fs_name: given.file_name, platform_fs_slug: NO_PLATFORM }
        : await findRom(context, romId)
      const lineage = { user_id: caller.id, rom_id: romId, kind }
      return await writes.run(db, [lineage], async (writing) => {
        await devices.lock(writing.tx, acting)
        const asset = await writes.create(writing, {
          lineage,
          rom,
          file_name: await chooseName(writing, lineage, given),
          emulator,
          slot,
          is_public: false,
          is_gallery: false,
          origin_device_id: acting?.device.id ?? null,
          conflict_of: null,
          client_mtime: null
        }, file, null)
        if (acting !== null && kind !== 'screenshot') await stampUpload(writing.tx, acting.device, asset, undefined)
        return asset.id
      })
    },

    /**
     * Replaces content if it is the expected one.
     *
     * @param expectedSha1 null replaces any content
     * @returns false if the asset has other content by now
     */
    async replace (context: Context, ref: AssetRef, expectedSha1: string | null, file: StagedFile): Promise<boolean> {
      const acting = await devices.findSender(context, undefined)
      const row = await getOwn(context, ref)
      return await writes.run(context.db, [lineageOf(row)], async (writing) => {
        await devices.lock(writing.tx, acting)
        const asset = await load(writing, ref)
        if (expectedSha1 !== null && asset.sha1 !== expectedSha1) return false
        await writes.replace(writing, asset,
          { file, folder: ownFolder(asset), client_mtime: null, device_id: acting?.device.id ?? null })
        if (acting !== null && ref.kind !== 'screenshot') await stampUpload(writing.tx, acting.device, asset, undefined)
        return true
      })
    },

    /** Moves an asset to a ROM. @param twin id of an asset of the ROM that the moved one becomes a conflict copy of */
    async assign (
      context: Context, ref: AssetRef, to: { rom_id: number, slot: string | null, twin: number | null }
    ): Promise<void> {
      const row = await getOwn(context, ref)
      const rom = await findRom(context, to.rom_id)
      const lineage = { ...lineageOf(row), rom_id: rom.id }
      await writes.run(context.db, [lineageOf(row), lineage], async (writing) => {
        const asset = await load(writing, ref)
        const name = to.twin === null
          ? await chooseName(writing, lineage, { file_name: asset.file_name, emulator: asset.emulator ?? null })
          : conflictName(asset.file_name, writing.now, asset.emulator ?? 'webdav')
        writing.tx.em.assign(asset, {
          rom: writing.tx.em.getReference(Rom, rom.id),
          platform_fs_slug: rom.platform_fs_slug,
          rom_fs_name: rom.fs_name,
          file_name: name,
          slot: to.twin === null ? to.slot : null,
          conflict_of: to.twin
        })
      })
    }
  }
}
