import { isEmulated, platformsOf } from './core-folders.ts'

/** A ROM that may be the game of a save or state. */
export interface RomCandidate {
  rom_id: number
  rom_name: string
  slug: string
  fs_slug: string
  /** Names of the content: of the ROM, its folder, its files and their archive members, without extensions. */
  stems: readonly string[]
}

/** The folders of a path that RetroArch creates, if its settings sort files by core or by content. */
export interface SortFolders { core: string | null, content: string | null }

const isPlatformFolder = (folder: string, { slug, fs_slug: fsSlug }: RomCandidate) =>
  [slug, fsSlug].some((name) => name.toLowerCase() === folder.toLowerCase())

/** Reads `[content folder/][core folder/]`. A single unknown folder is that of a core, unless it names a platform. */
export function readFolders (folders: readonly string[], candidates: readonly RomCandidate[]): SortFolders {
  const last = folders.at(-1) ?? null
  const isContent = last !== null && folders.length === 1 && platformsOf(last) === null &&
    candidates.some((candidate) => isPlatformFolder(last, candidate))
  return isContent ? { core: null, content: last } : { core: last, content: folders.at(-2) ?? null }
}

const normalize = (stem: string) => stem.normalize('NFC')

/** Returns the candidates with this name, those in the exact case if there are any. */
function withStem (candidates: readonly RomCandidate[], stem: string): readonly RomCandidate[] {
  const name = normalize(stem)
  const exact = candidates.filter(({ stems }) => stems.some((one) => normalize(one) === name))
  if (exact.length > 0) return exact
  const folded = name.toLowerCase()
  return candidates.filter(({ stems }) => stems.some((one) => normalize(one).toLowerCase() === folded))
}

/** Returns the candidates on a platform that the core emulates, or on one that no known core emulates. */
function onPlatformsOf (candidates: readonly RomCandidate[], core: string | null): readonly RomCandidate[] {
  const platforms = core === null ? null : platformsOf(core)
  if (platforms === null) return candidates
  const fitting = candidates.filter(({ slug, fs_slug: fsSlug }) => platforms.has(slug) || platforms.has(fsSlug))
  return fitting.length > 0 ? fitting : candidates.filter(({ slug }) => !isEmulated(slug))
}

/** Returns the ROMs to which a file may belong: one is a match, several are for a person to choose from. */
export function matchRoms (
  stems: readonly string[], folders: readonly string[], candidates: readonly RomCandidate[]
): readonly RomCandidate[] {
  for (const stem of stems) {
    const named = withStem(candidates, stem)
    const { core, content } = readFolders(folders, named)
    const playable = onPlatformsOf(named, core)
    const inFolder = content === null ? [] : playable.filter((candidate) => isPlatformFolder(content, candidate))
    const matches = inFolder.length > 0 ? inFolder : playable
    if (matches.length > 0) return matches
  }
  return []
}
