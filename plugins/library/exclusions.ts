import { type Pattern, compilePattern } from './pattern.ts'

/** The `exclude` section of config.yml. Names may be patterns (`*`, `?`, `[...]`). */
export interface Exclusions {
  platforms: readonly string[]
  roms: {
    single_file: { extensions: readonly string[], names: readonly string[] }
    multi_file: {
      names: readonly string[]
      parts: { extensions: readonly string[], names: readonly string[] }
    }
  }
}

/** Names in a platform's folder that belong to the server's exporters. Patterns are not supported. */
export interface ReservedNames { files: readonly string[], folders: readonly string[] }

export const NO_RESERVED_NAMES: ReservedNames = { files: [], folders: [] }

/** Predicates for names that the library excludes. Folders compare without case, files with case. */
export interface ExclusionRules {
  isExcludedPlatform: (name: string) => boolean
  /** True for an excluded file directly in a platform's folder. */
  isExcludedSingle: (name: string) => boolean
  /** True for an excluded folder directly in a platform's folder. */
  isExcludedMulti: (name: string) => boolean
  /** True for an excluded file inside a ROM's folder. */
  isExcludedPart: (name: string) => boolean
  /**
   * True for an excluded folder inside a ROM's folder: only leftovers of other systems, never an `assets` of the game.
   */
  isExcludedPartFolder: (name: string) => boolean
}

export const DEFAULT_EXCLUDED_EXTENSIONS: readonly string[] =
  ['db', 'ini', 'tmp', 'bak', 'lock', 'log', 'cache', 'crdownload', 'part', 'assembling']

/** Without .ini, because PC games store their settings in .ini files. Such files are not ROMs, but belong to one. */
export const DEFAULT_EXCLUDED_PART_EXTENSIONS: readonly string[] =
  DEFAULT_EXCLUDED_EXTENSIONS.filter((extension) => extension !== 'ini')

export const DEFAULT_EXCLUDED_FILES: readonly string[] = [
  '.DS_Store', '.localized', '.Trashes', '.stfolder', '@SynoResource', '*:Zone.Identifier', 'gamelist.xml',
  'metadata.pegasus.txt'
]

/** The trash folder for deleted files, in the folder of a library or of a platform's ROMs. */
export const TRASH_FOLDER = '.svc-trash'

export const DEFAULT_EXCLUDED_FOLDERS: readonly string[] = [
  TRASH_FOLDER, '@eaDir', 'assets', '__MACOSX', '#recycle', '$RECYCLE.BIN', '.Trash-*', '.stfolder', '.Spotlight-V100',
  '.fseventsd', '.DocumentRevisions-V100', 'System Volume Information',
  // Temporary folders that this server writes beside a ROM during a conversion.
  '.svc-convert-*'
]

/** Names that this server uses itself. A file with such a name would block its trash folder. */
const OWN_NAMES: readonly string[] = ['.svc-*']

/** Folders that exporters and scrapers write beside the ROMs of a platform; they are never a ROM. */
const MEDIA_FOLDERS: readonly string[] = [
  '3dboxes', 'assets', 'backcovers', 'backgrounds', 'bezels', 'boxes', 'cartridges', 'covers', 'custom', 'fanart',
  'images', 'logos', 'manuals', 'marquees', 'media', 'miximages', 'miximages_v2', 'physical', 'physicalmedia',
  'screenshots', 'thumbnails', 'titlescreens', 'videos'
]

/** Files that exporters and frontends write beside the ROMs of a platform. */
const FRONTEND_FILES: readonly string[] = [
  'gamelist.xml', 'gamelist.xml.old', 'gamelist.xml.bak', 'metadata.pegasus.txt', '*.metadata.pegasus.txt',
  'metadata.txt', 'noload.txt'
]

/** Combines the built-in rules, the configured rules, and the names that exporters write. */
export function createExclusions (settings: Exclusions, reserved: ReservedNames = NO_RESERVED_NAMES): ExclusionRules {
  const { single_file: single, multi_file: multi } = settings.roms
  const isSingleExtension = matchExtensions([...DEFAULT_EXCLUDED_EXTENSIONS, ...single.extensions])
  const isSingleName = matchNames([...DEFAULT_EXCLUDED_FILES, ...FRONTEND_FILES, ...single.names])
  const isOwnName = matchFolders(OWN_NAMES)
  const isMultiName = matchFolders([...DEFAULT_EXCLUDED_FOLDERS, ...OWN_NAMES, ...MEDIA_FOLDERS, ...multi.names])
  const reservedFiles = new Set(reserved.files)
  const reservedFolders = new Set(reserved.folders.map((name) => name.toLowerCase()))
  const isPartExtension = matchExtensions([...DEFAULT_EXCLUDED_PART_EXTENSIONS, ...multi.parts.extensions])
  const isPartName = matchNames([...DEFAULT_EXCLUDED_FILES, ...multi.parts.names])
  return {
    isExcludedPlatform: matchFolders([...DEFAULT_EXCLUDED_FOLDERS, ...settings.platforms]),
    isExcludedSingle: (name) =>
      reservedFiles.has(name) || isSingleName(name) || isSingleExtension(name) || isOwnName(name),
    isExcludedMulti: (name) => reservedFolders.has(name.toLowerCase()) || isMultiName(name),
    isExcludedPart: (name) => isPartName(name) || isPartExtension(name),
    isExcludedPartFolder: matchFolders(DEFAULT_EXCLUDED_FOLDERS.filter((folder) => folder !== 'assets'))
  }
}

type Predicate = (name: string) => boolean

function matchNames (names: readonly string[]): Predicate {
  const exact = new Set(names)
  const patterns = names.filter((name) => /[*?[]/.test(name)).map((name): Pattern => compilePattern(name))
  return (name) => exact.has(name) || patterns.some((pattern) => pattern(name))
}

function matchFolders (names: readonly string[]): Predicate {
  const matches = matchNames(names.map((name) => name.toLowerCase()))
  return (name) => matches(name.toLowerCase())
}

function matchExtensions (extensions: readonly string[]): Predicate {
  const endings = new Set(extensions.map((extension) => extension.trim().replace(/^\.+/, '').toLowerCase()))
  endings.delete('')
  return (name) => {
    const lower = name.toLowerCase()
    for (let dot = lower.indexOf('.'); dot !== -1; dot = lower.indexOf('.', dot + 1)) {
      if (endings.has(lower.slice(dot + 1))) return true
    }
    return false
  }
}
