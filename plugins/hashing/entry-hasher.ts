import type { Config } from '../../core/config/config.ts'
import type { Entry } from '../entries/entries.ts'
import { type EntryHashes, hashEntry, unhashed } from './hash-entry.ts'
import type { FileHashes, Hasher } from './hasher.ts'
import { addRaHash, consoleBeside } from './ra-hash.ts'
import { consoleOf } from './retroachievements/platforms.ts'

/** Platforms without a hash database: hashing terabytes of their files would find no match. */
export const UNHASHED_PLATFORMS: ReadonlySet<string> = new Set(['amazon-alexa', 'amazon-fire-tv', 'android', 'gear-vr', 'ios', 'ipad', 'linux', 'mac',
  'meta-quest-2', 'meta-quest-3', 'oculus-go', 'oculus-quest', 'oculus-rift', 'ps3', 'ps4', 'ps5', 'psvr', 'psvr2',
  'series-x-s', 'switch', 'switch-2', 'wiiu', 'win', 'xbox360', 'xboxone'])

/** Hashes the files of one scan, as the platform and the settings require. */
export interface EntryHasher {
  /** True if files of a platform are hashed at all. */
  isHashed (slug: string): boolean
  /** Gets ready to hash, for files that follow soon. */
  prepare (): void
  /** Hashes an entry on a platform, also by the rule of RetroAchievements for this platform. */
  hashEntry (entry: Entry, slug: string): Promise<EntryHashes>
  /** Hashes a single file by no rule of a platform. */
  hashFile (path: string): Promise<FileHashes>
}

export function createEntryHasher (
  hasher: Hasher, { filesystem }: Pick<Config, 'filesystem'>, signal: AbortSignal
): EntryHasher {
  const isOff = filesystem.skip_hash_calculation
  const isHashed = (slug: string) => !isOff && !UNHASHED_PLATFORMS.has(slug)

  return {
    isHashed,
    prepare () { if (!isOff) hasher.prepare() },
    hashFile: (path) => hasher.hashFile(path, { signal }),
    async hashEntry (entry, slug) {
      const raConsole = isOff ? null : consoleOf(slug)
      const hashes = isHashed(slug)
        ? await hashEntry(entry, consoleBeside(entry, raConsole), hasher, signal)
        : unhashed(entry)
      return raConsole === null ? hashes : await addRaHash(entry, hashes, raConsole, { hasher, signal })
    }
  }
}
