import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable } from '../../core/typebox.ts'

const byPlatform = <T extends ReturnType<typeof Type.Object>> (item: T, description: string) =>
  Type.Record(Type.String(), Type.Array(item), {
    description: `${description}, by the id of each platform; only with ` +
    'include_platform_stats'
  })

const MetadataCoverageItem = Type.Object({ source: Type.String(), matched: Type.Integer() }, { title: 'MetadataCoverageItem' })
const RegionBreakdownItem = Type.Object({ region: Type.String(), count: Type.Integer() }, { title: 'RegionBreakdownItem' })
const ExtensionBreakdownItem = Type.Object({
  extension: Type.String({ description: 'Extension without the dot; empty for files without one' }), count: Type.Integer(), size_bytes: Type.Integer()
}, { title: 'ExtensionBreakdownItem' })

export const StatsSchema = Type.Object({
  PLATFORMS: Type.Integer({ description: 'Platforms with at least one ROM' }),
  ROMS: Type.Integer(),
  SAVES: Type.Integer({ description: 'Saves of all users' }),
  STATES: Type.Integer({ description: 'States of all users' }),
  SCREENSHOTS: Type.Integer({ description: 'Screenshots of all users, including the pictures of saves and states' }),
  TOTAL_FILESIZE_BYTES: Type.Integer(),
  METADATA_COVERAGE: byPlatform(MetadataCoverageItem, 'Number of ROMs that each provider knows'),
  REGION_BREAKDOWN: byPlatform(RegionBreakdownItem, 'ROMs by region, most first'),
  EXTENSION_BREAKDOWN: byPlatform(ExtensionBreakdownItem, 'ROMs and their size by file type, largest first')
}, { title: 'Stats' })
export type StatsView = Static<typeof StatsSchema>

export const StatsQuery = Type.Object({
  include_platform_stats: Type.Boolean({
    default: false, description: 'True to get the breakdown of each platform too'
  })
})

const WEEKS_MAX = 520
const MOST_PLAYED_MAX = 100
export const PlayStatsQuery = Type.Object({
  weeks: Type.Integer({
    default: 12, minimum: 1, maximum: WEEKS_MAX, description: 'Number of weeks, including the current one'
  }),
  limit: Type.Integer({ default: 10, minimum: 1, maximum: MOST_PLAYED_MAX, description: 'Number of most played ROMs' })
})

const Played = { total_ms: Type.Integer(), sessions: Type.Integer() }
export const PlayStatsSchema = Type.Object({
  most_played: Type.Array(Type.Object({
    rom_id: Type.Integer(),
    name: Nullable(Type.String()),
    fs_name: Type.String(),
    platform_id: Type.Integer(),
    ...Played,
    last_played: DateTime
  }), { description: 'Longest play time first' }),
  weeks: Type.Array(Type.Object({
    week: Type.String({ format: 'date', description: 'Monday of the week, in UTC' }),
    platform_id: Type.Integer(),
    platform_display_name: Type.String(),
    ...Played
  }), { description: 'One entry for each week and platform with play time, the newest week first' })
}, { title: 'PlayStats' })
export type PlayStatsView = Static<typeof PlayStatsSchema>
