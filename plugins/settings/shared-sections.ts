import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../core/config/config.ts'
import { HOST_KEYS, HOST_SECTIONS } from '../../core/config/host-settings.ts'
import { type Change, type Content, isContent } from './content.ts'

/** Sections of `config.yml` by name. A section without any key counts as absent. */
export type Sections = ReadonlyMap<string, unknown>

/** Renders JSON with sorted keys, because files may list the same settings in another order. */
export const toSortedJson = (value: unknown): string => JSON.stringify(value, (_key, inner: unknown) => isContent(inner)
  ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
  : inner) ?? 'null'

/** Returns a text that changes with the value of a section; undefined and null mean that it is absent. */
export const digestOf = (value: unknown): string => hash('sha256', toSortedJson(value ?? null))

/** Removes the settings of a section that each host has for itself. */
export function withoutHostKeys (name: string, value: unknown): unknown {
  const own = HOST_KEYS[name] ?? []
  return isContent(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !own.includes(key))) : value
}

/** Keeps only the settings of a section that each host has for itself. */
const onlyHostKeys = (name: string, value: unknown): unknown => isContent(value)
  ? Object.fromEntries(Object.entries(value).filter(([key]) => HOST_KEYS[name]?.includes(key) === true))
  : undefined

const isAbsent = (value: unknown) =>
  value === undefined || value === null || (isContent(value) && Object.keys(value).length === 0)

/** Returns the names of the sections that hosts of one database share. Keys that are no settings are not shared. */
export const listSharedNames = (config: Config): ReadonlySet<string> =>
  new Set(config.file.listSettings().flatMap(({ path: [name = ''] }) => HOST_SECTIONS.includes(name) ? [] : [name]))

/** Returns the shared sections of a file. */
export function readSections (content: Content, names: ReadonlySet<string>): Sections {
  const sections = Object.entries(content).map(([name, value]) => [name, withoutHostKeys(name, value)] as const)
  return new Map(sections.filter(([name, value]) => names.has(name) && !isAbsent(value)))
}

/** Lists the changes that make one value of another. Keys that are equal stay, with their comments. */
function listDifferences (path: readonly string[], from: unknown, to: unknown): Change[] {
  if (isDeepStrictEqual(from, to)) return []
  if (!isContent(from) || !isContent(to)) return [{ path, value: to }]
  const keys = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...keys].flatMap((key) => listDifferences([...path, key], from[key], to[key]))
}

/**
 * Lists the changes that replace a section. The settings in it that each host has for itself stay.
 *
 * @param from the whole section of the file
 */
export function replaceSection (name: string, from: unknown, to: unknown): Change[] {
  const isWhole = to === undefined && isAbsent(onlyHostKeys(name, from))
  if (isWhole) return from === undefined ? [] : [{ path: [name], value: undefined }]
  const isMap = isContent(from) || isContent(to)
  const orEmpty = (value: unknown) => value ?? (isMap ? {} : undefined)
  return listDifferences([name], orEmpty(withoutHostKeys(name, from)), orEmpty(to))
}

/** The settings of all hosts: a row of the database. */
export interface SharedSection {
  /** Undefined if the section was removed. */
  value: unknown
  changedAt: number
  /** The name of the host whose file it came from. */
  changedBy: string
}

/** What the file and the database had in common last of a section: the digest of its value, and the time of the row. */
export interface CommonSection { digest: string, changed_at: number }

/** A section in the file of this host and in the database. */
export interface SectionState {
  here: unknown
  shared: SharedSection | undefined
  /** Undefined if both had none in common. */
  base: CommonSection | undefined
}

/**
 * The next step for a section: nothing, to write the value of the database to the file, or to store that of the file.
 * `loser` is the side whose own change is replaced.
 */
export interface Step { step: 'none' | 'write' | 'store', loser: 'file' | 'database' | null }

/**
 * Decides which side of a section is newer. If both changed since they were equal, the later change wins. A new host
 * gets the settings of the others, and they get sections that only it has. A row that is older than the common one
 * comes from a restored database, and the file is newer.
 */
export function decideStep ({ here, shared, base }: SectionState, fileChangedAt: number): Step {
  if (shared === undefined) return { step: here === undefined ? 'none' : 'store', loser: null }
  const [mine, theirs] = [digestOf(here), digestOf(shared.value)]
  if (mine === theirs) return { step: 'none', loser: null }
  if (base?.digest === theirs) return { step: 'store', loser: null }
  if (base?.digest === mine) {
    return shared.changedAt < base.changed_at ? { step: 'store', loser: 'database' } : { step: 'write', loser: null }
  }
  if (base === undefined) return { step: 'write', loser: here === undefined ? null : 'file' }
  return fileChangedAt > shared.changedAt ? { step: 'store', loser: 'database' } : { step: 'write', loser: 'file' }
}
