import type { Rom } from '@svc/plugin-sdk'
import { unique } from '@svc/plugin-sdk/readers'
import { findBestCandidate } from '@svc/plugin-sdk/titles'
import { type Production, listProductions, readProduction } from './api.ts'
import type { DemozooContext } from './config.ts'
import { listAuthors, toMatch } from './map.ts'

const THRESHOLD = 0.88
/** A name up to its first group in parentheses. */
const FIRST_GROUP = /^[^()]*\(([^()]*)\)/

/** Finds the production with the title of a file. Among several, a production by a group in one of the tags wins. */
export async function findProduction (rom: Rom, ctx: DemozooContext) {
  const tags = new Set(rom.tags.map((tag) => tag.toLowerCase()))
  const isNamed = (row: Production) => listAuthors(row).some((author) => tags.has(author.toLowerCase()))
  for (const title of listTitles(rom)) {
    const rows = await listProductions(title, rom.platform.ids, ctx)
    const sorted = rows.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)))
    const best = findBestCandidate(title, sorted, (row) => [row.title], { threshold: THRESHOLD, explain: ctx.explain })
    const production = best && await readProduction(best.candidate.id, ctx)
    if (production !== undefined) return toMatch(production, best?.score)
  }
  return undefined
}

/** Converts a name to a title, because Demozoo compares whole titles. */
export const toTitle = (name: string): string => name.replaceAll('_', ' ').trim()

/**
 * Lists the name without tags, then with its first tag if that tag has no known meaning. Some titles contain one:
 * `BBS (7)`.
 */
function listTitles ({ fs_name_no_tags: name, fs_name_no_ext: full, tags }: Rom): string[] {
  const [whole = '', tag = ''] = FIRST_GROUP.exec(full) ?? []
  return unique([toTitle(name), tags.includes(tag.trim()) ? toTitle(whole) : '']).filter((title) => title !== '')
}
