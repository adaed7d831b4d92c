import type { FastifyInstance } from 'fastify'
import { nameOnDevice } from '../assets/asset-names.ts'
import type { StagedFile } from '../assets/asset-files.ts'
import type { Pair } from '../sync/pair.ts'
import type { AssetRow } from '../sync/rows.ts'
import type { MatchedSave } from './list-files.ts'
import type { Candidate } from './rows.ts'
import type { Run } from './run.ts'
import type { DeviceSave } from './transport.ts'

/** A save of the device whose content was read, with the decision about it. */
export interface DecidedSave {
  pair: Pair
  matched: MatchedSave
  staged: StagedFile
}

/** A save of the server to write to the device, and the file that it replaces there; null for a new file. */
interface SaveToSend {
  asset: AssetRow
  candidate: Candidate
  replaces: DeviceSave | null
}

/**
 * Writes the server's content to the device and stores it as their base.
 *
 * @returns false if the device has no folder for it
 */
export async function writeToDevice (
  { assets, db }: FastifyInstance, { caller, device, transport }: Run, { asset, candidate, replaces }: SaveToSend
): Promise<boolean> {
  const ref = { kind: 'save', id: asset.id } as const
  const { row, content: { object } } = await assets.open({ db, caller }, ref)
  const target = {
    platforms: [candidate.fs_slug, candidate.slug],
    file_name: replaces?.file_name ?? nameOnDevice(asset.file_name, candidate.rom_stem),
    replaces
  }
  const stream = object.read(0, object.size)
  try {
    if (!await transport.write(target, stream)) return false
  } finally {
    stream.destroy()
    await object.close()
  }
  await assets.changes.confirm({ db, caller }, ref, { device_id: device.device_id, sha1: row.sha1 })
  return true
}

/** Uploads the content of a device. @param conflictOf the asset that the content is stored as a conflict copy of */
export async function uploadFromDevice (
  { assets, db }: FastifyInstance, { caller, device }: Run, { pair, matched: { save }, staged }: DecidedSave,
  conflictOf?: number
): Promise<void> {
  const { asset, is_replaceable: isReplaceable } = pair
  const input = {
    rom_id: pair.rom_id,
    device_id: device.device_id,
    mtime: new Date(save.changed_at).toISOString(),
    ...(asset?.emulator === null || asset === null ? {} : { emulator: asset.emulator })
  }
  const uploadOptions = conflictOf !== undefined
    ? { conflict_of: conflictOf }
    : asset !== null && isReplaceable
      ? { expected_sha1: asset.sha1, overwrite: true, ...(asset.slot === null ? {} : { slot: asset.slot }) }
      : {}
  await assets.upload({ db, caller }, 'save', { ...input, ...uploadOptions }, { main: staged, screenshot: null })
}
