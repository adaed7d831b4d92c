import { formatDate } from '../../core/typebox.ts'
import type { AssetKind } from '../assets/entities.ts'
import { COVERAGE_ORDER } from '../plugins/known-providers.ts'
import type { CountRow, MostPlayedRow, PlayedWeekRow } from './rows.ts'
import type { PlayStatsView, StatsView } from './schemas.ts'

const rankOf = (key: string) => COVERAGE_ORDER.includes(key) ? COVERAGE_ORDER.indexOf(key) : COVERAGE_ORDER.length
const byProvider = (a: CountRow, b: CountRow) => rankOf(a.key) - rankOf(b.key) || (a.key < b.key ? -1 : 1)
const sumOf = (rows: readonly CountRow[], field: 'roms' | 'bytes') => rows.reduce((sum, row) => sum + row[field], 0)

/** Groups the rows of one kind by the id of their platform. */
function byPlatform<T> (
  rows: readonly CountRow[], kind: CountRow['kind'], order: (a: CountRow, b: CountRow) => number,
  toItem: (row: CountRow) => T
): Record<string, T[]> {
  const platforms = Map.groupBy(rows.filter((row) => row.kind === kind), (row) => row.platform_id)
  return Object.fromEntries([...platforms].map(([id, some]) => [id, [...some].sort(order).map(toItem)]))
}

/** Returns the coverage of each platform; the list is empty if no provider knows any of its ROMs. */
function toPlatformStats (rows: readonly CountRow[]) {
  const none = Object.fromEntries(rows.map((row) => [row.platform_id, []]))
  return {
    METADATA_COVERAGE: {
      ...none, ...byPlatform(rows, 'provider', byProvider, ({ key, roms }) => ({ source: key, matched: roms }))
    },
    REGION_BREAKDOWN: byPlatform(rows, 'region', (a, b) => b.roms - a.roms, ({ key, roms }) => ({ region: key, count: roms })),
    EXTENSION_BREAKDOWN: byPlatform(rows, 'extension', (a, b) => b.bytes - a.bytes,
      ({ key, roms, bytes }) => ({ extension: key, count: roms, size_bytes: bytes }))
  }
}

export function toStatsView (
  rows: readonly CountRow[], assets: ReadonlyMap<AssetKind, number>, withPlatforms: boolean
): StatsView {
  const each = rows.filter((row) => row.kind === 'extension')
  return {
    PLATFORMS: new Set(each.map((row) => row.platform_id)).size,
    ROMS: sumOf(each, 'roms'),
    SAVES: assets.get('save') ?? 0,
    STATES: assets.get('state') ?? 0,
    SCREENSHOTS: assets.get('screenshot') ?? 0,
    TOTAL_FILESIZE_BYTES: sumOf(each, 'bytes'),
    ...toPlatformStats(withPlatforms ? rows : [])
  }
}

export function toPlayStatsView (mostPlayed: readonly MostPlayedRow[], weeks: readonly PlayedWeekRow[]): PlayStatsView {
  return {
    most_played: mostPlayed.map((row) => ({ ...row, last_played: formatDate(row.last_played) })),
    weeks: [...weeks]
  }
}
