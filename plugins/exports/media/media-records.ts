import type { Stats } from 'node:fs'
import type { Cache } from '@svc/plugin-sdk'
import type { ExportedPlace } from '../rows.ts'

/** A file in the resources folder, in one state of its content. */
export interface MediaSource {
  /** Relative to the resources folder. */
  path: string
  stats: Stats
}

/** Size and time in milliseconds of a file as it was put there, and of which source it was made. */
type MediaRecord = readonly [size: number, time: number, source: string]

/** Remembers which media beside the ROMs are the server's own, so that nobody else's is ever replaced. */
export interface MediaRecords {
  /** Whether the file is as the server left it. */
  isOwn (path: string, stats: Stats): boolean
  /** Whether it was made of that very source. */
  isMadeOf (path: string, source: MediaSource): boolean
  set (path: string, stats: Stats, source: MediaSource): void
  delete (path: string): void
  save (): Promise<void>
}

const identify = ({ path, stats }: MediaSource) => `${path}|${stats.size}|${stats.mtimeMs}`

/** The records of one platform in one library. Paths are relative to its folder. */
export async function loadMediaRecords (
  cache: Cache, { platform_id: platform, library_id: library }: ExportedPlace
): Promise<MediaRecords> {
  // Those of the first library are called as they were when there was only one.
  const key = library === 1 ? `media/${platform}` : `media/${platform}/${library}`
  const records = new Map(Object.entries((await cache.get(key) ?? {}) as Record<string, MediaRecord>))
  let isChanged = false

  return {
    isOwn (path, stats) {
      const record = records.get(path)
      return record !== undefined && record[0] === stats.size && record[1] === stats.mtimeMs
    },
    isMadeOf: (path, source) => records.get(path)?.[2] === identify(source),
    set (path, stats, source) {
      records.set(path, [stats.size, stats.mtimeMs, identify(source)])
      isChanged = true
    },
    delete (path) {
      isChanged = records.delete(path) || isChanged
    },
    async save () {
      if (isChanged) await cache.set(key, Object.fromEntries(records))
      isChanged = false
    }
  }
}
