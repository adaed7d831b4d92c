import { ApiError } from '../../../core/errors.ts'
import { cleanFileName } from '../../assets/asset-names.ts'
import { withoutDateTag } from '../../assets/base-rows.ts'
import { type FileRow, type Owner, type UnclaimedAsset, hasSlot, selectUnclaimed } from '../rows.ts'
import { emulatorOf } from './core-folders.ts'
import { findRoms } from './find-rom.ts'
import { type RomCandidate, readFolders } from './match-rom.ts'
import { type GameFile, type Key, isBatterySave } from './read-key.ts'

/** The slot in which apps for handhelds look for the newest save. */
const DEFAULT_SLOT = 'autosave'
const EMULATOR_MAX = 50

/** A path of a save, state or picture. */
export interface GamePath { key: Key, game: GameFile }

/** The place of a new asset among those of its game. */
export interface AssetPlace { rom_id: number | null, emulator: string | null, slot: string | null }

/** Returns the name of a path's asset: the name on the device without characters that other devices refuse. */
export function storedName ({ file }: Key): string {
  try {
    return cleanFileName(file)
  } catch (err) {
    if (err instanceof ApiError) return 'unnamed'
    throw err
  }
}

function emulatorOfPath ({ folders }: Key, candidates: readonly RomCandidate[]): string | null {
  const { core } = readFolders(folders, candidates)
  return core === null ? null : emulatorOf(core).slice(0, EMULATOR_MAX)
}

/** True if an asset is the file of a path: it has the same emulator, or none, and the same name or a slot. */
function isTwin ({ key, game }: GamePath, emulator: string | null, asset: UnclaimedAsset): boolean {
  if (asset.kind !== game.kind || (asset.emulator !== null && asset.emulator !== emulator)) return false
  return withoutDateTag(asset.file_name) === storedName(key) || (isBatterySave(key) && asset.slot !== null)
}

/** Finds an asset of another app that is the file of a path. */
export async function findTwin (
  owner: Owner, path: GamePath, { rom_id: romId, emulator }: Pick<AssetPlace, 'rom_id' | 'emulator'>
): Promise<UnclaimedAsset | null> {
  if (romId === null) return null
  return (await selectUnclaimed(owner, romId)).find((asset) => isTwin(path, emulator, asset)) ?? null
}

/** Returns the slot for a new save: battery saves share one with other apps, unless another emulator has it. */
export async function chooseSlot (owner: Owner, { key }: GamePath, romId: number | null): Promise<string | null> {
  if (romId === null || !isBatterySave(key) || await hasSlot(owner, romId, DEFAULT_SLOT)) return null
  return DEFAULT_SLOT
}

/** Returns the only candidate, or the one that was chosen for the path before; null if a person has to choose. */
export function chooseRom (
  candidates: readonly RomCandidate[], { rom_id: former }: Pick<FileRow, 'rom_id'>
): RomCandidate | null {
  const [first, ...others] = candidates
  const chosen = candidates.find(({ rom_id: id }) => id === former)
  return chosen ?? (others.length === 0 ? first : undefined) ?? null
}

/** Finds the place for the asset of a new path. */
export async function findPlace (owner: Owner, row: FileRow, path: GamePath): Promise<AssetPlace> {
  const candidates = (await findRoms(owner, [path])).get(path.key.folded) ?? []
  const romId = chooseRom(candidates, row)?.rom_id ?? null
  const emulator = emulatorOfPath(path.key, candidates)
  return { rom_id: romId, emulator, slot: await chooseSlot(owner, path, romId) }
}
