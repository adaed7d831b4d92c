import type { Stats } from 'node:fs'
import type { Cache } from '@svc/plugin-sdk'
import type { PlatformInLibrary } from '../rows.ts'

/** A file of the store, in one state of its content. */
export interface MediaSource {
  /** Relative to the resources folder. */
  path: string
  size: number
  /** Milliseconds since 1970, with the precision of the store. */
  time: number
  /** The file on disk, to which a medium may be linked; null if it is on another machine. */
  file: Pick<Stats, 'ino' | 'dev'> | null
}

/** Size and time in milliseconds of a published file, and the source that it was made of. */
type MediaRecord = readonly [size: number, time: number, source: string]

/** Records the media beside the ROMs that the server wrote, because it never replaces files of others. */
export interface MediaRecords {
  /** True if the server wrote the file and nobody changed it since. */
  isUnchanged (path: string, stats: Stats): boolean
  /** True if the file was made of this state of the source. */
  isFromSource (path: string, source: MediaSource): boolean
  set (path: string, stats: Stats, source: MediaSource): void
  delete (path: string): void
  /** Lists the paths of all recorded media. */
  list (): string[]
  save (): Promise<void>
}

const identify = ({ path, size, time }: MediaSource) => `${path}|${size}|${time}`

/** Loads the records of one platform in one library. Paths are relative to the platform's folder. */
export async function loadMediaRecords (
  cache: Cache, { platform_id: platform, library_id: library }: PlatformInLibrary
): Promise<MediaRecords> {
  // The key of the first library has no id, because it dates from the time of a single library.
  const key = library === 1 ? `media/${platform}` : `media/${platform}/${library}`
  const records = new Map(Object.entries((await cache.get(key) ?? {}) as Record<string, MediaRecord>))
  let isChanged = false

  return {
    isUnchanged (path, stats) {
      const record = records.get(path)
      return record !== undefined && record[0] === stats.size && record[1] === stats.mtimeMs
    },
    isFromSource: (path, source) => records.get(path)?.[2] === identify(source),
    set (path, stats, source) {
      records.set(path, [stats.size, stats.mtimeMs, identify(source)])
      isChanged = true
    },
    delete (path) {
      isChanged = records.delete(path) || isChanged
    },
    list: () => [...records.keys()],
    async save () {
      if (isChanged) await cache.set(key, Object.fromEntries(records))
      isChanged = false
    }
  }
}
