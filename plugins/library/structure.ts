import { join } from 'node:path'
import {
  type Problem, INVALID_NAME_REASON, LibraryUnreadableError, adviceOf, isFolder, readLibraryDirectory,
  realLibraryDirectory
} from './directory.ts'
import type { ExclusionRules } from './exclusions.ts'
import { explainRefusedPath, safeRelativePath } from '../../core/files/safe-path.ts'

/** The part of the `filesystem` section of config.yml that describes the layout of the library. */
export interface FilesystemSettings {
  roms_folder: string
  firmware_folder: string
  structure: {
    default?: 'roms/{platform}/{game}' | '{platform}/roms/{game}'
    firmware?: 'bios/{platform}' | '{platform}/bios'
  }
}

/** A: one folder with all platforms, `roms/snes`. B: one folder in each platform, `snes/roms`. */
export type StructureKind = 'A' | 'B'

export interface Structure {
  kind: StructureKind
  romsFolder: string
  firmwareKind: StructureKind
  firmwareFolder: string
}

export interface PlatformFolders {
  /** Folder names in the order of their bytes. */
  platforms: string[]
  problems: Problem[]
}

/**
 * Returns the layout of a library: as configured, else as detected; null if it contains no ROM folder yet.
 *
 * @throws {LibraryUnreadableError}
 */
export async function detectStructure (
  libraryDir: string, settings: FilesystemSettings, rules: ExclusionRules
): Promise<Structure | null> {
  const configured = settings.structure.default
  const romsFolder = configured === undefined ? settings.roms_folder : 'roms'
  const kind = configured === undefined ? await detectKind(libraryDir, romsFolder, rules) : kindOf(configured)
  if (kind === null) return null
  const firmware = settings.structure.firmware
  return {
    kind,
    romsFolder,
    firmwareKind: firmware === undefined ? kind : kindOf(firmware),
    firmwareFolder: firmware === undefined ? settings.firmware_folder : 'bios'
  }
}

/**
 * Lists the platform folders of a library, with links to folders, without excluded ones.
 *
 * @throws {LibraryUnreadableError}
 */
export async function listPlatformFolders (
  libraryDir: string, structure: Structure, rules: ExclusionRules
): Promise<PlatformFolders> {
  if (structure.kind === 'A') return await listFolders(libraryDir, structure.romsFolder, rules)
  const { platforms, problems } = await listFolders(libraryDir, '', rules)
  const withRoms: string[] = []
  for (const name of platforms) {
    if (await hasFolder(libraryDir, `${name}/${structure.romsFolder}`, problems)) withRoms.push(name)
  }
  return { platforms: withRoms, problems }
}

/** Returns the folder of a platform's ROMs, relative to the library. */
export function romsPath (structure: Structure, fsSlug: string): string {
  return structure.kind === 'A' ? `${structure.romsFolder}/${fsSlug}` : `${fsSlug}/${structure.romsFolder}`
}

/** Returns the folder of a platform's firmware, relative to the library. */
export function firmwarePath (structure: Structure, fsSlug: string): string {
  const { firmwareKind, firmwareFolder } = structure
  return firmwareKind === 'A' ? `${firmwareFolder}/${fsSlug}` : `${fsSlug}/${firmwareFolder}`
}

/**
 * Returns the path of a platform's ROM folder without symbolic links, as the base for opening its files.
 *
 * @throws {PathRefusedError} if the platform's name is not a plain name
 * @throws {LibraryUnreadableError}
 */
export async function platformRoot (libraryDir: string, structure: Structure, fsSlug: string): Promise<string> {
  return await realLibraryDirectory(join(libraryDir, safeRelativePath(romsPath(structure, fsSlug))))
}

function kindOf (template: string): StructureKind {
  return template.startsWith('{platform}') ? 'B' : 'A'
}

async function detectKind (
  libraryDir: string, romsFolder: string, rules: ExclusionRules
): Promise<StructureKind | null> {
  const { platforms, problems } = await listFolders(libraryDir, '', rules)
  if (await isFolder(join(libraryDir, romsFolder))) return 'A'
  for (const name of platforms) {
    if (await hasFolder(libraryDir, `${name}/${romsFolder}`, problems)) return 'B'
  }
  return null
}

/** Lists the folders in a folder of the library that may be platforms, without excluded ones. */
export async function listFolders (
  libraryDir: string, folder: string, rules: ExclusionRules
): Promise<PlatformFolders> {
  const platforms: string[] = []
  const problems: Problem[] = []
  for (const { name, kind, isValid } of await readLibraryDirectory(join(libraryDir, folder))) {
    if (rules.isExcludedPlatform(name) || (kind !== 'folder' && kind !== 'link')) continue
    const path = folder === '' ? name : `${folder}/${name}`
    // The name of a folder may hold a backslash, and with it parts that no path of a file may have.
    const refusal = explainRefusedPath(`${path}/`)
    if (!isValid) problems.push({ path, reason: INVALID_NAME_REASON })
    else if (refusal !== null) problems.push({ path, reason: `${refusal}; rename it` })
    else if (kind === 'folder' || await hasFolder(libraryDir, path, problems)) platforms.push(name)
  }
  return { platforms, problems }
}

/**
 * True if the path is a folder. An unreadable folder, `lost+found` for instance, is reported and does not hide others.
 */
async function hasFolder (libraryDir: string, path: string, problems: Problem[]): Promise<boolean> {
  try {
    return await isFolder(join(libraryDir, path))
  } catch (err) {
    if (!(err instanceof LibraryUnreadableError)) throw err
    problems.push({ path, reason: adviceOf(err.cause) })
    return false
  }
}
