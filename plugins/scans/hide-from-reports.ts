import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { selectVisibleRoms } from '../roms/visible-rows.ts'
import { selectHiddenPlatformNames } from './report-rows.ts'

type Report = Record<string, unknown>

const isObject = (value: unknown): value is Report => typeof value === 'object' && value !== null && !Array.isArray(value)

const romIdOf = (item: unknown): number | null => isObject(item) && typeof item.rom_id === 'number' ? item.rom_id : null

const listItems = (report: Report): unknown[] =>
  Object.values(report).flatMap((value) => Array.isArray(value) ? value as unknown[] : [])

/** True if a text names a platform, or is a path in its folder. */
const namesAny = (platforms: ReadonlySet<string>, text: unknown): boolean =>
  typeof text === 'string' && (platforms.has(text) || text.split('/').some((part) => platforms.has(part)))

/** Removes hidden ROMs and platforms from the lists of a report; its totals stay. */
function hide (report: Report, roms: ReadonlySet<number>, platforms: ReadonlySet<string>): Report {
  const isShown = (item: unknown): boolean => {
    const romId = romIdOf(item)
    if (romId !== null && !roms.has(romId)) return false
    return !namesAny(platforms, isObject(item) ? item.platform : item)
  }
  return Object.fromEntries(Object.entries(report).map(([key, value]) => {
    if (Array.isArray(value)) return [key, value.filter(isShown)]
    return [key, key === 'platform' && namesAny(platforms, value) ? null : value]
  }))
}

/**
 * Removes ROMs and platforms that are hidden from a caller from reports of tasks. Reports of scans, conversions and
 * renames name them, whoever started the task.
 */
export async function hideFromReports (
  context: Context<AnyCaller>, reports: readonly Report[]
): Promise<Report[]> {
  const ids = reports.flatMap(listItems).flatMap((item) => romIdOf(item) ?? [])
  const roms = ids.length === 0 ? new Set<number>() : await selectVisibleRoms(context, [...new Set(ids)])
  const platforms = await selectHiddenPlatformNames(context)
  return reports.map((report) => hide(report, roms, platforms))
}
