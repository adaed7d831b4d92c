import type { Config } from '../../core/config/config.ts'
import { createExclusions } from './exclusions.ts'
import { type Structure, detectStructure, listPlatformFolders } from './structure.ts'

/** The library as the configuration describes it. */
export function createLibrary ({ library_dir: dir, filesystem, exclude }: Config) {
  const rules = createExclusions(exclude)
  /** What a library without any ROM folder becomes. */
  const emptyStructure: Structure = {
    kind: 'A', romsFolder: filesystem.roms_folder, firmwareKind: 'A', firmwareFolder: filesystem.firmware_folder
  }
  return {
    rules,
    emptyStructure,
    /** Null when it holds no ROM folder yet. @throws {LibraryUnreadableError} */
    detectStructure: () => detectStructure(dir, filesystem, rules),
    /** @throws {LibraryUnreadableError} */
    listPlatformFolders: (structure: Structure) => listPlatformFolders(dir, structure, rules)
  }
}
export type Library = ReturnType<typeof createLibrary>
