import { ApiError } from '../../../core/errors.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import { toFileName } from '../../renames/rename-rom.ts'
import type { DatRenameView } from '../schemas.ts'
import type { MisnamedRom } from './rename-rows.ts'

/** Returns the reason why a ROM cannot get its name by a DAT; null if it can. Names in DATs are not trusted. */
function findRefusal (rom: MisnamedRom, rules: ExclusionRules): string | null {
  const { new_name: name, is_folder: isFolder, is_taken: isTaken } = rom
  if (isTaken) return `another ROM has or gets the name '${name}'; delete or rename that one first`
  try {
    return toFileName(name, isFolder, rules) === name ? null : `'${name}' is no name that a file can have`
  } catch (err) {
    if (err instanceof ApiError) return err.message
    throw err
  }
}

export function planRename (rom: MisnamedRom, rules: ExclusionRules): DatRenameView {
  const { rom_id: id, platform_id: platformId, fs_name: fsName, new_name: newName } = rom
  return { rom_id: id, platform_id: platformId, fs_name: fsName, new_name: newName, refusal: findRefusal(rom, rules) }
}
