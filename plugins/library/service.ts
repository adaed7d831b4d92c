import type { Config } from '../../core/config/config.ts'
import { type ExclusionRules, createExclusions } from './exclusions.ts'
import { type Structure, detectStructure, listPlatformFolders } from './structure.ts'

/** The library as the configuration describes it. */
export function createLibrary (config: Config) {
  const dir = config.library_dir
  let made: { of: Config['exclude'], rules: ExclusionRules } | null = null

  function readRules (): ExclusionRules {
    const { exclude } = config
    if (made?.of !== exclude) made = { of: exclude, rules: createExclusions(exclude) }
    return made.rules
  }

  return {
    /** As they are now: what works with them for long keeps one state of them, or asks again. */
    get rules () { return readRules() },
    /** What a library without any ROM folder becomes. */
    get emptyStructure (): Structure {
      const { roms_folder: romsFolder, firmware_folder: firmwareFolder } = config.filesystem
      return { kind: 'A', romsFolder, firmwareKind: 'A', firmwareFolder }
    },
    /** Null when it holds no ROM folder yet. @throws {LibraryUnreadableError} */
    detectStructure: () => detectStructure(dir, config.filesystem, readRules()),
    /** @throws {LibraryUnreadableError} */
    listPlatformFolders: (structure: Structure) => listPlatformFolders(dir, structure, readRules())
  }
}
export type Library = ReturnType<typeof createLibrary>
