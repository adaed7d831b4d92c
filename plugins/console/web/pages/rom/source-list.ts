import type { components } from '../../api/schema.d.ts'

export type RomSources = components['schemas']['RomSources']

/** One value of a ROM: its name, its providers, and the lock that removes a person's value. */
export interface SourceRow {
  field: string
  providers: readonly string[]
  lock: string | null
}

/** A field that a provider's id or record locks. */
const PROVIDER_LOCK = /^(?:raw_(?<record>.+)_metadata|(?<id>.+)_id)$/

/** Returns the provider whose id or record a lock names; null for a lock on a field. */
export function readProviderLock (lock: string): { provider: string; isRecord: boolean } | null {
  const { record, id } = PROVIDER_LOCK.exec(lock)?.groups ?? {}
  if (record !== undefined) return { provider: record, isRecord: true }
  return id === undefined || lock === 'youtube_video_id' ? null : { provider: id, isRecord: false }
}

/** The lock that a kind of media has, because media are locked by their address. */
const MEDIA_LOCKS: Readonly<Record<string, string>> = { cover: 'url_cover', manual: 'url_manual' }

/** Lists the values of a ROM with their providers, and locks that belong to no listed value. */
export function listSources ({ fields, media, locked }: Pick<RomSources, 'fields' | 'media' | 'locked'>): SourceRow[] {
  const lockOf = (name: string) => (locked.includes(name) ? name : null)
  const rows: SourceRow[] = [
    ...Object.entries(fields).map(([field, providers]) => ({ field, providers, lock: lockOf(field) })),
    ...Object.entries(media).map(([field, providers]) => ({
      field,
      providers,
      lock: lockOf(MEDIA_LOCKS[field] ?? field)
    }))
  ]
  const shown = new Set(rows.map(({ lock }) => lock))
  const others = locked
    .filter((lock) => !shown.has(lock))
    .map((lock): SourceRow => ({ field: lock, providers: [], lock }))
  return [...rows, ...others]
}
