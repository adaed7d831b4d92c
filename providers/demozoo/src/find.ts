import { type Rom, findBestTitle, unique } from '@svc/plugin-sdk'
import { type Production, listProductions, readProduction } from './api.ts'
import type { DemozooContext } from './config.ts'
import { listAuthors } from './map.ts'

const THRESHOLD = 0.88
/** Titles that are compared. */
const CANDIDATES = 20
/** A name up to its first group in brackets. */
const FIRST_GROUP = /^[^()]*\(([^()]*)\)/

/** The production whose title a file has; of several the one by a group that stands in a tag. */
export async function findProduction (rom: Rom, ctx: DemozooContext) {
  for (const title of listTitles(rom)) {
    const rows = (await listProductions(title, rom.platform.ids, ctx)).slice(0, CANDIDATES)
    const sorted = sortByTags(rows, rom.tags)
    const best = findBestTitle(title, sorted.map((row) => row.title), { threshold: THRESHOLD })
    const row = best && sorted[best.index]
    const production = row && await readProduction(row.id, ctx)
    if (production !== undefined) return { production, score: best?.score }
  }
  return undefined
}

/** Demozoo compares whole titles. */
export function toTitle (name: string): string {
  return name.replaceAll('_', ' ').trim()
}

/** The name without tags; then with its first tag when that means nothing, as it is part of some titles: `BBS (7)`. */
function listTitles ({ fs_name_no_tags: name, fs_name_no_ext: full, tags }: Rom): string[] {
  const [whole, tag] = FIRST_GROUP.exec(full) ?? []
  const isPart = whole !== undefined && tags.includes(tag?.trim() ?? '')
  return unique([toTitle(name), isPart ? toTitle(whole) : undefined]).filter((title) => title !== '')
}

function sortByTags (rows: readonly Production[], tags: readonly string[]): Production[] {
  const named = new Set(tags.map((tag) => tag.toLowerCase()))
  const isNamed = (row: Production) => listAuthors(row).some((author) => named.has(author.toLowerCase()))
  return rows.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)))
}
