import type { Context } from '../../../core/access/context.ts'
import { requireTime } from '../../../core/database/times.ts'
import type { StagedFile } from '../asset-files.ts'
import { cleanFileName, cleanFolder } from '../asset-names.ts'
import type { ActingDevice } from '../device-sync/acting-device.ts'
import type { AssetKind } from '../entities.ts'
import type { UploadInput } from '../schemas.ts'
import { type RomNames, selectRomNames } from './write-rows.ts'
import type { WriteKey } from './write-transaction.ts'
import { romNotFound } from '../../roms/rom-not-found.ts'

/** The validated input of an upload, before any asset rows are read. */
export interface Upload {
  input: UploadInput
  lineage: WriteKey & { rom_id: number }
  rom: RomNames
  /** The cleaned file name, without the date tag of a slot. */
  name: string
  slot: string | null
  emulator: string | null
  file: StagedFile
  acting: ActingDevice | null
  clientMtime: Date | null
}

/** Returns null for a missing or empty text. */
export const orNull = (text: string | undefined) => text === undefined || text === '' ? null : text

/** Parses the time when a device changed a file. @throws ApiError INVALID if the text is not a valid time */
export const readMtime = (text: string | undefined): Date | null =>
  text === undefined ? null : requireTime(text, ['query', 'mtime'])

/** Finds a ROM that is visible to the caller. @throws ApiError NOT_FOUND */
export async function findRom (context: Context, id: number): Promise<RomNames> {
  const rom = await selectRomNames(context, id)
  if (rom === undefined) throw romNotFound(id)
  return rom
}

/** Validates an upload. @param acting the device that sends it */
export async function readUpload (
  context: Context, kind: AssetKind, input: UploadInput, { file, acting }: Pick<Upload, 'file' | 'acting'>
): Promise<Upload> {
  const rom = await findRom(context, input.rom_id)
  const emulator = orNull(input.emulator)
  return {
    input,
    rom,
    lineage: { user_id: context.caller.id, rom_id: rom.id, kind },
    name: cleanFileName(file.given_name),
    // States have no slot, and the slot of a state is not validated.
    slot: kind === 'save' ? orNull(input.slot) : null,
    emulator: emulator === null ? null : cleanFolder(emulator),
    file,
    acting,
    clientMtime: readMtime(input.mtime)
  }
}
