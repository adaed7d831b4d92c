import type { Hasher, RetroAchievementsHash } from './hasher.ts'
import { chooseFile } from './retroachievements/choose-file.ts'
import { hasOwnRule, knownHash } from './retroachievements/known-hash.ts'
import type { Entry, EntryFile } from '../entries/entries.ts'
import { type EntryHashes, pathOf } from './hash-entry.ts'

/**
 * Adds the hash of an entry at RetroAchievements. Reads the file again only if this hash does not follow from the
 * others, and the file had no problem before.
 */
export async function addRaHash (
  entry: Entry, hashes: EntryHashes, raConsole: number, { hasher, signal }: { hasher: Hasher, signal: AbortSignal }
): Promise<EntryHashes> {
  const index = chooseFile(entry.kind, entry.files, raConsole)
  const file = index === null ? undefined : entry.files[index]
  if (index === null || file === undefined) return hashes
  const known = knownHash(raConsole, file, hashes.files[index] ?? null)
  if (known !== null) return { ...hashes, ra: { hash: known, file } }
  const path = pathOf(file)
  const made = hashes.files[index]?.retroachievements
  if (made !== undefined) return withRaHash(hashes, file, made)
  if (hashes.warnings.some((warning) => warning.path === path)) return hashes
  const found = await hasher.hashRetroAchievements(file.absolute_path, raConsole, { signal })
    .catch((err: unknown): RetroAchievementsHash => {
      signal.throwIfAborted()
      return { ra_hash: null, warning: err instanceof Error ? err.message : String(err) }
    })
  return withRaHash(hashes, file, found)
}

function withRaHash (hashes: EntryHashes, file: EntryFile, found: RetroAchievementsHash): EntryHashes {
  const { ra_hash: hash, warning } = found
  const path = pathOf(file)
  return {
    ...hashes,
    ra: hash === null ? null : { hash, file },
    warnings: warning === undefined
      ? hashes.warnings
      : [...hashes.warnings, { path, reason: `no RetroAchievements hash: ${warning}` }]
  }
}

/** Returns the console by whose rule a single file is hashed in the same reading as its other hashes. */
export function consoleBeside (entry: Entry, raConsole: number | null): number | undefined {
  const [file] = entry.files
  if (raConsole === null || file === undefined || entry.kind !== 'file') return undefined
  if (chooseFile(entry.kind, entry.files, raConsole) !== 0) return undefined
  return hasOwnRule(raConsole, file) ? raConsole : undefined
}
