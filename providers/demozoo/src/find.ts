import { type Rom, findBestCandidate, unique } from '@svc/plugin-sdk'
import { type Production, listProductions, readProduction } from './api.ts'
import type { DemozooContext } from './config.ts'
import { listAuthors, toMatch } from './map.ts'

const THRESHOLD = 0.88
/** A name up to its first group in brackets. */
const FIRST_GROUP = /^[^()]*\(([^()]*)\)/

/** The production whose title a file has; of several the one by a group that stands in a tag. */
export async function findProduction (rom: Rom, ctx: DemozooContext) {
  const tags = new Set(rom.tags.map((tag) => tag.toLowerCase()))
  const isNamed = (row: Production) => listAuthors(row).some((author) => tags.has(author.toLowerCase()))
  for (const title of listTitles(rom)) {
    const rows = (await listProductions(title, rom.platform.ids, ctx)).slice(0, 20)
    const sorted = rows.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)))
    const best = findBestCandidate(title, sorted, (row) => [row.title], { threshold: THRESHOLD })
    const production = best && await readProduction(best.candidate.id, ctx)
    if (production !== undefined) return toMatch(production, best?.score)
  }
  return undefined
}

/** Demozoo compares whole titles. */
export const toTitle = (name: string): string => name.replaceAll('_', ' ').trim()

/** The name without tags; then with its first tag when that means nothing, as it is part of some titles: `BBS (7)`. */
function listTitles ({ fs_name_no_tags: name, fs_name_no_ext: full, tags }: Rom): string[] {
  const [whole = '', tag = ''] = FIRST_GROUP.exec(full) ?? []
  return unique([toTitle(name), tags.includes(tag.trim()) ? toTitle(whole) : '']).filter((title) => title !== '')
}
