import { type Owner, selectCandidates, selectCandidatesByFile } from '../rows.ts'
import { type RomCandidate, matchRoms } from './match-rom.ts'
import type { GameFile, Key } from './read-key.ts'

/** Finds the ROMs to which files may belong, by path. Names of ROMs come before names of their files. */
export async function findRoms (
  owner: Owner, files: readonly { key: Key, game: GameFile }[]
): Promise<Map<string, readonly RomCandidate[]>> {
  const found = new Map<string, readonly RomCandidate[]>()
  for (const select of [selectCandidates, selectCandidatesByFile]) {
    const open = files.filter(({ key }) => !found.has(key.folded))
    if (open.length === 0) break
    const candidates = await select(owner, [...new Set(open.flatMap(({ game }) => game.stems))])
    for (const { key, game } of open) {
      const matches = matchRoms(game.stems, key.folders, candidates)
      if (matches.length > 0) found.set(key.folded, matches)
    }
  }
  return found
}
